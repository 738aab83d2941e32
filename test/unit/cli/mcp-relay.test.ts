/** The stdio entry between a client and the service's own MCP legs over real HTTP. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ElicitResultSchema, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LEGACY_VERSIONS, SERVER_CAPABILITIES } from '../../../src/mcp/about.ts';
import { ANN, startMcp, until, type McpServer } from '../mcp/support/mcp-server.ts';
import { modern } from '../mcp/support/modern-request.ts';
import { relayWorld } from './support/relay.ts';
import { operations } from '../../../src/operations/index.ts';

/** Tools that a caller with every scope is shown. */
const DEFAULT_TOOLS = operations.filter(({ mcp }) => mcp.tool === 'default').length;

const NOTHING = { nothing_relevant: true };
const SEARCH = { name: 'memory_search', arguments: { query: '喝什么' } };

function asking(): Server {
  const server = new Server({ name: 'asking', version: '0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, async (_request, { sendRequest, sendNotification, _meta }) => {
    const token = _meta?.progressToken;
    if (token !== undefined) await sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } });
    const requestedSchema = { type: 'object' as const, properties: { confirm: { type: 'boolean' as const } } };
    const { action } = await sendRequest(
      { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } },
      ElicitResultSchema,
    );
    return { content: [{ type: 'text', text: action }] };
  });
  return server;
}

/** The address of a server that is not ours. */
async function listenOn(server: HttpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('cli/mcp-relay', () => {
  let server: McpServer;
  beforeEach(async () => {
    server = await startMcp();
  });
  afterEach(() => server.close());
  const targetOf = ({ url }: McpServer, token: string | undefined = ANN) => ({ url: url.origin, token });

  it('carries initialize, list, call and an unknown method of the older revisions', async () => {
    const world = relayWorld(targetOf(server));
    expect((await world.hello()).result).to.deep.include({ protocolVersion: '2025-06-18', capabilities: SERVER_CAPABILITIES });
    expect((await world.ask('tools/list')).result.tools).to.have.length(DEFAULT_TOOLS);
    expect((await world.ask('tools/call', SEARCH)).result.structuredContent).to.include(NOTHING);
    expect((await world.ask('tools/call', { name: 'memory_search', arguments: {} })).result.isError).to.equal(true);
    expect((await world.ask('resources/list')).error).to.include({ code: -32601 });
    expect(server.memory.calls.map(({ input }) => input)).to.deep.equal([{ query: '喝什么' }]);
    expect(world.notes).to.deep.equal([]);
  });

  it('carries revision 2026-07-28, with the headers that HTTP wants', async () => {
    const world = relayWorld(targetOf(server));
    const ask = async (message: Record<string, unknown>) => {
      await world.take(message);
      return world.sent.at(-1);
    };
    expect((await ask(modern('server/discover'))).result).to.include({ resultType: 'complete' });
    expect((await ask(modern('tools/call', SEARCH))).result).to.include({ resultType: 'complete' });
    expect((await ask(modern('tools/call', { name: '工具', arguments: {} }))).error).to.deep.equal({
      code: -32602,
      message: 'Unknown tool',
    });
    expect(world.sent.every(({ id }) => id === 1)).to.equal(true);
  });

  it('carries what the service asks and tells in between, and the client’s answer', async () => {
    const asked = await startMcp({ createServer: asking });
    try {
      const world = relayWorld(targetOf(asked));
      await world.hello({ elicitation: {} });
      const answer = world.ask('tools/call', { name: 'any', _meta: { progressToken: 'p' } });
      await until(() => world.sent.some(({ method }) => method === 'elicitation/create'));
      const question = world.sent.find(({ method }) => method === 'elicitation/create');
      await world.take({ id: question.id, result: { action: 'accept', content: { confirm: true } } });
      expect((await answer).result.content[0].text).to.equal('accept');
      expect(world.sent.map(({ method }) => method)).to.deep.equal([undefined, 'notifications/progress', 'elicitation/create', undefined]);
    } finally {
      await asked.close();
    }
  });

  it('hears what the service says without being asked', async () => {
    const servers: Server[] = [];
    const speaking = await startMcp({
      createServer: () => {
        servers.push(asking());
        return servers.at(-1) as Server;
      },
    });
    try {
      const world = relayWorld(targetOf(speaking));
      await world.hello({ elicitation: {} });
      await until(() => servers.length === 1);
      const heard = (): boolean => world.sent.some(({ method }) => method === 'notifications/tools/list_changed');
      await until(() => {
        // the stream may not be open yet: what is said before is lost
        if (!heard()) void servers[0]?.notification({ method: 'notifications/tools/list_changed' }).catch(() => undefined);
        return heard();
      });
    } finally {
      await speaking.close();
    }
  });

  it('answers initialize and discover at once while the service is not up, and lets the other requests wait for it', async () => {
    const world = relayWorld(undefined);
    expect((await world.hello({ elicitation: {} })).result).to.deep.include({
      protocolVersion: '2025-06-18',
      capabilities: SERVER_CAPABILITIES,
    });
    const waiting = world.ask('tools/list');
    await world.take({ ...modern('server/discover'), id: 'd' });
    expect(world.sent.at(-1).result.supportedVersions).to.deep.equal(['2026-07-28']);
    expect(world.relay.running).to.equal(1);
    world.target = targetOf(server);
    expect((await waiting).result.tools).to.have.length(DEFAULT_TOOLS);
    expect(server.mount.sessionCount(), 'the session of the initialize that was answered here').to.equal(1);
  });

  it('says the same at initialize as the service does', async () => {
    const [own, theirs] = [await relayWorld(undefined).hello(), await relayWorld(targetOf(server)).hello()];
    expect(own.result).to.deep.equal(theirs.result);
    expect(LEGACY_VERSIONS).to.deep.equal(SUPPORTED_PROTOCOL_VERSIONS);
  });

  it('tells why the service could not be started, for every call, and tries again', async () => {
    const world = relayWorld(undefined, new Error('The service could not be started: Port 8420 is in use'));
    await world.hello();
    for (let call = 0; call < 2; call += 1)
      expect((await world.ask('tools/list')).error).to.deep.equal({
        code: -32000,
        message: 'The service could not be started: Port 8420 is in use',
      });
    world.target = targetOf(server);
    expect((await world.ask('tools/list')).result.tools).to.have.length(DEFAULT_TOOLS);
  });

  it('opens a new session where the service does not know the old one', async () => {
    const other = await startMcp({ sessionKey: Buffer.alloc(32, 7) });
    try {
      const world = relayWorld(targetOf(server));
      await world.hello({ elicitation: {} });
      world.target = world.believed = targetOf(other);
      expect((await world.ask('tools/call', SEARCH)).result.structuredContent).to.include(NOTHING);
      expect(other.mount.sessionCount()).to.equal(1);
    } finally {
      await other.close();
    }
  });

  it('finds the service again at another address, without an error, when nothing had been sent', async () => {
    const gone = await startMcp();
    const world = relayWorld(targetOf(gone));
    await world.hello();
    await gone.close();
    world.target = targetOf(server);
    expect((await world.ask('tools/list')).result.tools).to.have.length(DEFAULT_TOOLS);
  });

  it('tells that nobody is at the address, and connects with the next call', async () => {
    const gone = await startMcp();
    await gone.close();
    const world = relayWorld(targetOf(gone));
    const { error } = await world.ask('tools/list');
    expect(error.code).to.equal(-32000);
    expect(error.message).to.match(/^The service at http:\/\/127\.0\.0\.1:\d+ cannot be reached/);
    world.target = targetOf(server);
    expect((await world.ask('tools/list')).result.tools).to.have.length(DEFAULT_TOOLS);
  });

  it('does not repeat a call whose answer was lost on the way, and says so', async () => {
    let calls = 0;
    const breaking = createServer((request) => {
      calls += 1;
      request.socket.destroy();
    });
    const world = relayWorld({ url: await listenOn(breaking), token: ANN });
    const { error } = await world.ask('tools/call', SEARCH);
    expect(error.message).to.match(/^The connection to the service was lost .* may have been carried out/);
    expect(calls).to.equal(1);
    breaking.close();
    world.target = targetOf(server);
    expect((await world.ask('tools/list')).result.tools).to.have.length(DEFAULT_TOOLS);
  });

  it('tells which token was refused, and uses a new one as soon as there is one', async () => {
    const world = relayWorld(targetOf(server, `${ANN}/bad`));
    const refused = await world.hello();
    expect(refused.error).to.deep.equal({
      code: -32001,
      message: `401: the service at ${server.url.origin} rejected the token (wrong, expired or of another issuer): advice on the token`,
    });
    world.believed = targetOf(server, `${ANN}/bad`);
    world.target = targetOf(server);
    expect((await world.ask('tools/list')).result.tools).to.have.length(DEFAULT_TOOLS);
    const without = relayWorld({ url: server.url.origin, token: undefined });
    expect((await without.ask('tools/list')).error.message).to.contain('needs a bearer token: advice on the token');
  });

  it('sends no answer to a request that the client cancelled, and ends it at the service', async () => {
    for (const capabilities of [{}, { elicitation: {} }]) {
      const world = relayWorld(targetOf(server));
      await world.hello(capabilities);
      let signal: AbortSignal | undefined;
      server.memory.intercept = ({ call }) => {
        signal = call.signal;
        return new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(new Error('aborted'))));
      };
      const answer = world.ask('tools/call', SEARCH, 'long');
      await until(() => signal !== undefined);
      await world.take({ method: 'notifications/cancelled', params: { requestId: 'long' } });
      expect(await answer).to.equal(undefined);
      await until(() => signal?.aborted === true);
      expect(world.relay.running).to.equal(0);
    }
  });

  it('passes errors of the service on with the request’s id, and says what a page of something else means', async () => {
    const world = relayWorld(targetOf(server));
    const { error } = await world.ask('tools/list', [1] as object);
    expect(error.data.code).to.equal('ERR_REQUEST_INVALID');
    const page = createServer((_request, answer) => answer.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'));
    const elsewhere = relayWorld({ url: await listenOn(page), token: ANN });
    expect((await elsewhere.ask('tools/list')).error.message).to.match(/^HTTP 502 came back without a JSON-RPC message/);
    page.close();
  });
});
