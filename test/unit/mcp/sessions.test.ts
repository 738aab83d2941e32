import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ElicitRequestSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import type { NotedCall } from '../http/support/memory-double.ts';
import {
  ANN,
  call,
  clientTransport,
  connectClient,
  initialize,
  openSession,
  send,
  sendAndLeave,
  startMcp,
  until,
  type McpServer,
  type McpServerOptions,
} from './support/mcp-server.ts';

const FOUND = { hits: [], nothing_relevant: true, degraded: [], took_ms: 1 };

/** Every call waits until `open` is called, or its signal ends it. */
function gate(server: McpServer): { readonly waiting: NotedCall[]; readonly ended: NotedCall[]; open(): void } {
  const waiting: NotedCall[] = [];
  const ended: NotedCall[] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  server.memory.intercept = async (noted) => {
    waiting.push(noted);
    const { signal } = noted.call;
    await Promise.race([opened, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))]);
    if (signal.aborted) ended.push(noted);
    return { ...FOUND, degraded: [String(noted.input['query'])] };
  };
  return { waiting, ended, open: () => open() };
}

describe('mcp sessions', () => {
  const servers: McpServer[] = [];
  const start = async (options?: McpServerOptions): Promise<McpServer> => {
    const server = await startMcp(options);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it('answers 12 parallel requests with the id 1 each with its own answer', async () => {
    const server = await start();
    const session = await openSession(server);
    const held = gate(server);
    const queries = Array.from({ length: 12 }, (_, i) => `question ${i}`);
    const answers = queries.map((query) => send(server, call('memory_search', { query }, 1), { session }));
    await until(() => held.waiting.length === 12);
    held.open();
    const got = (await Promise.all(answers)).map(({ message }) => [message['id'], message['result'].structuredContent.degraded[0]]);
    expect(got).to.deep.equal(queries.map((query) => [1, query]));
    expect(server.mount.sessionCount()).to.equal(1);
  });

  it('holds fewer listeners on a response than Node takes for a leak', async () => {
    const warnings: string[] = [];
    const note = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
    process.on('warning', note);
    try {
      const server = await start();
      const session = await openSession(server);
      expect((await send(server, call('memory_search', { query: 'tea' }), { session })).status).to.equal(200);
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('warning', note);
    }
    expect(warnings.filter((warning) => warning.startsWith('MaxListeners'))).to.deep.equal([]);
  });

  it('takes an id again after its answer, and keeps 1 and "1" apart', async () => {
    const server = await start();
    const session = await openSession(server);
    for (const id of [1, 1, '1', 0, 0]) {
      const { message } = await send(server, call('memory_search', { query: 'tea' }, id), { session });
      expect(message).to.include({ id });
    }
  });

  it('ends the work of a client that goes away, the id 0 too, and answers the next call under that id', async () => {
    const server = await start();
    const session = await openSession(server);
    for (const given of [session, undefined]) {
      const held = gate(server);
      const leave = sendAndLeave(server, call('memory_search', { query: 'slow' }, 0), given);
      await until(() => held.waiting.length === 1);
      leave();
      await until(() => held.ended.length === 1);
      server.memory.intercept = undefined;
      const { message } = await send(server, call('memory_search', { query: 'tea' }, 0), { session: given });
      expect(message['result'].structuredContent).to.include({ nothing_relevant: true });
    }
  });

  it('ends a request that the client cancels, without an answer', async () => {
    const server = await start();
    const session = await openSession(server);
    const held = gate(server);
    const cancelled = send(server, call('memory_search', { query: 'slow' }, 0), { session });
    await until(() => held.waiting.length === 1);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } };
    expect((await send(server, cancel, { session })).status).to.equal(202);
    expect((await cancelled).text).to.equal('');
    expect(held.ended).to.have.length(1);
    expect((await send(server, { ...cancel, params: { requestId: 'never seen' } }, { session })).status).to.equal(202);
  });

  it('cancels nothing when an id could mean either of two requests', async () => {
    const server = await start();
    const session = await openSession(server);
    const held = gate(server);
    const both = ['one', 'two'].map((query) => send(server, call('memory_search', { query }, 1), { session }));
    await until(() => held.waiting.length === 2);
    await send(server, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, { session });
    held.open();
    expect((await Promise.all(both)).map(({ message }) => message['result'].structuredContent.degraded[0])).to.have.members(['one', 'two']);
  });

  it('goes on after a restart: the client notices nothing', async () => {
    const first = await start();
    const session = await openSession(first);
    await first.close();
    const second = await start();
    expect(second.mount.sessionCount()).to.equal(0);
    const queries = Array.from({ length: 8 }, (_, i) => send(second, call('memory_search', { query: 'tea' }, i), { session }));
    for (const { status, headers } of await Promise.all(queries)) {
      expect(status).to.equal(200);
      expect(headers.get('mcp-session-id')).to.equal(session);
    }
    expect(second.mount.sessionCount()).to.equal(1);
  });

  it('can ask the client for confirmation, after a restart as well', async () => {
    const createServer = (): Server => {
      const server = new Server({ name: 'fixture', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(CallToolRequestSchema, async (_request, extra) => {
        const params = { mode: 'form' as const, message: 'Sure?', requestedSchema: { type: 'object' as const, properties: {} } };
        const { action } = await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
        return { content: [{ type: 'text', text: action }] };
      });
      return server;
    };
    const connect = async (server: McpServer, session?: string): Promise<{ client: Client; session: string | undefined }> => {
      const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: {} }));
      const transport = clientTransport(server, ANN, session);
      await client.connect(transport);
      return { client, session: transport.sessionId };
    };
    const first = await start({ createServer });
    const { client, session } = await connect(first);
    const answer = { content: [{ type: 'text', text: 'accept' }] };
    expect(await client.callTool({ name: 'any' })).to.deep.include(answer);
    await client.close();
    await first.close();
    const second = await start({ createServer });
    const again = await connect(second, session);
    expect(await again.client.callTool({ name: 'any' })).to.deep.include(answer);
    await again.client.close();
  });

  it('is over once its owner ends it', async () => {
    const server = await start();
    const session = await openSession(server);
    expect((await send(server, undefined, { method: 'DELETE', session })).status).to.equal(204);
    expect(server.mount.sessionCount()).to.equal(0);
    for (const method of ['POST', 'DELETE', 'GET']) {
      const body = method === 'POST' ? call('memory_search', { query: 'tea' }, 3) : undefined;
      const { status, message } = await send(server, body, { method, session });
      expect(status, method).to.equal(404);
      expect(message).to.include({ jsonrpc: '2.0', id: method === 'POST' ? 3 : null });
      expect(message['error']).to.include({ code: -32001, message: 'Session not found' });
    }
    expect((await send(server, undefined, { method: 'DELETE' })).status).to.equal(400);
  });

  it('ends for the SDK’s client by its own call', async () => {
    const server = await start();
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
    const transport = clientTransport(server, ANN);
    await client.connect(transport);
    await transport.terminateSession();
    expect(server.mount.sessionCount()).to.equal(0);
    await client.close();
  });

  it('begins anew when an initialize comes with a stale session id', async () => {
    const server = await start();
    const answer = await send(server, initialize({ elicitation: {} }), { session: 'no-session-of-ours' });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('mcp-session-id')).to.not.equal(null);
  });

  it('leaves the process when nobody used it for long, and comes back when asked for', async () => {
    const server = await start();
    const session = await openSession(server);
    server.time.nowMs += 29 * 60_000;
    await server.mount.sweep();
    expect(server.mount.sessionCount()).to.equal(1);
    server.time.nowMs += 60_000;
    await server.mount.sweep();
    expect(server.mount.sessionCount()).to.equal(0);
    expect((await send(server, call('memory_search', { query: 'tea' }), { session })).status).to.equal(200);
    server.time.nowMs += 7 * 86_400_000;
    expect((await send(server, call('memory_search', { query: 'tea' }), { session })).status).to.equal(404);
  });

  it('makes room for a new session by ending an idle one, and serves without one when all are in use', async () => {
    const server = await start({ maxSessionsPerTenant: 2 });
    const oldest = await openSession(server);
    const client = await connectClient(server, ANN, true);
    await until(() => server.mount.sessionCount() === 2);
    await openSession(server);
    expect(server.mount.sessionCount()).to.equal(2);
    const another = await connectClient(server, ANN, true);
    expect(server.mount.sessionCount()).to.equal(2);
    // both places are now held by clients that listen on their stream
    const full = await send(server, initialize({ elicitation: {} }));
    expect(full.status).to.equal(200);
    expect(full.headers.get('mcp-session-id')).to.equal(null);
    const { status, message } = await send(server, call('memory_search', { query: 'tea' }), { session: oldest });
    expect(status).to.equal(200);
    expect(message['result'].structuredContent).to.include({ nothing_relevant: true });
    expect((await send(server, undefined, { method: 'GET', session: oldest })).status).to.equal(503);
    expect((await send(server, initialize({ elicitation: {} }), { token: 'other/zoe' })).headers.get('mcp-session-id')).to.not.equal(null);
    await Promise.all([client.close(), another.close()]);
  });

  it('ends the stream of a token that has run out', async () => {
    const server = await start({ tokensEndAt: Date.parse('2026-03-01T13:00:00.000Z') / 1_000 });
    const session = await openSession(server);
    const stream = send(server, undefined, { method: 'GET', session });
    await until(() => server.mount.sessionCount() === 1);
    let over = false;
    void stream.then(() => (over = true));
    server.time.nowMs = Date.parse('2026-03-01T12:59:59.000Z');
    await server.mount.sweep();
    expect(over).to.equal(false);
    server.time.nowMs += 1_000;
    await until(() => {
      void server.mount.sweep();
      return over;
    });
  });
});
