import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import { MEMORY_ID } from '../http/support/memory-double.ts';
import {
  ANN,
  call,
  connectClient,
  failureOf,
  PUBLIC_URL,
  send,
  sendAndLeave,
  startMcp,
  until,
  type McpServer,
} from './support/mcp-server.ts';
import { modern, modernHeaders, VERSION } from './support/modern-request.ts';
import { operations } from '../../../src/operations/index.ts';

/** Tools that a caller with every scope is shown. */
const DEFAULT_TOOLS = operations.filter(({ mcp }) => mcp.tool === 'default').length;

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('mcp/modern', () => {
  let server: McpServer;
  beforeEach(async () => {
    server = await startMcp();
  });
  afterEach(() => server.close());

  const ask = (body: Record<string, unknown>, headers: Record<string, string> = {}, token = ANN) =>
    send(server, body, { token, headers: { ...modernHeaders(body), ...headers } });
  const search = (params: object = {}) => modern('tools/call', { name: 'memory_search', arguments: { query: 'tea' }, ...params });

  it('answers discover, list and call, each in one JSON body of that revision and without a session', async () => {
    const discovered = await ask(modern('server/discover'));
    expect(discovered.status).to.equal(200);
    expect(discovered.headers.get('content-type')).to.contain('application/json');
    expect(discovered.headers.get('mcp-session-id')).to.equal(null);
    const { result } = discovered.message;
    expect(result).to.include({ resultType: 'complete', cacheScope: 'private', ttlMs: 300_000 });
    expect(result.supportedVersions).to.deep.equal([VERSION]);
    expect(result.capabilities).to.deep.equal({ tools: {}, prompts: {} });
    expect(result._meta['io.modelcontextprotocol/serverInfo']).to.include({ name: 'hindsight-es', version: '0.0.0' });

    const listed = (await ask(modern('tools/list'))).message['result'];
    expect(listed).to.include({ resultType: 'complete', cacheScope: 'private' });
    const older = await send(server, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(listed.tools).to.deep.equal(older.message['result'].tools);

    const written = await ask(modern('tools/call', { name: 'memory_write', arguments: { content: '李明对花生过敏' } }));
    expect(written.message['result']).to.include({ resultType: 'complete' });
    expect(written.message['result'].structuredContent.results[0].memory_id).to.equal(MEMORY_ID);
    expect(server.memory.calls.map(({ input }) => input)).to.deep.equal([{ content: '李明对花生过敏' }]);
    expect(server.mount.sessionCount()).to.equal(0);
  });

  it('serves older clients on the same path', async () => {
    await ask(search());
    const client = await connectClient(server, ANN);
    expect((await client.listTools()).tools).to.have.length(DEFAULT_TOOLS);
    await client.close();
  });

  for (const [what, headers] of Object.entries({
    'another version': { 'mcp-protocol-version': '2025-11-25' },
    'another method': { 'mcp-method': 'tools/list' },
    'a method in another case': { 'mcp-method': 'TOOLS/CALL' },
    'another name': { 'mcp-name': 'memory_forget' },
    'no name': { 'mcp-name': '' },
    'no method': { 'mcp-method': '' },
    'no version': { 'mcp-protocol-version': '' },
  }))
    it(`refuses ${what} in the headers than in the body`, async () => {
      const answer = await ask(search(), headers);
      expect(answer.status).to.equal(400);
      expect(answer.message).to.deep.include({ jsonrpc: '2.0', id: 1 });
      expect(answer.message['error'].code).to.equal(-32020);
      expect(server.memory.calls).to.have.length(0);
    });

  it('takes a name in base64, as a header must carry what is not ASCII', async () => {
    const encoded = `=?base64?${Buffer.from('memory_search').toString('base64')}?=`;
    expect((await ask(search(), { 'mcp-name': encoded })).status).to.equal(200);
    const unknown = modern('tools/call', { name: '记忆', arguments: {} });
    const answer = await ask(unknown, { 'mcp-name': `=?base64?${Buffer.from('记忆').toString('base64')}?=` });
    expect(answer.message['error']).to.deep.equal({ code: -32602, message: 'Unknown tool' });
  });

  it('names the versions it supports to one that asks for another', async () => {
    const body = modern('server/discover', {}, { 'io.modelcontextprotocol/protocolVersion': '2031-01-01' });
    const answer = await ask(body);
    expect(answer.status).to.equal(400);
    expect(answer.message['error']).to.deep.include({ code: -32022, data: { supported: [VERSION], requested: '2031-01-01' } });
  });

  it('wants version and capabilities in _meta', async () => {
    for (const field of ['protocolVersion', 'clientCapabilities']) {
      const answer = await ask(modern('tools/list', {}, { [`io.modelcontextprotocol/${field}`]: undefined }), {
        'mcp-protocol-version': VERSION,
      });
      expect(answer.status, field).to.equal(400);
      expect(answer.message['error'].code, field).to.equal(-32602);
    }
  });

  it('answers 404 for methods that it does not have, those of older revisions among them', async () => {
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/list', 'subscriptions/listen', 'no/such']) {
      const answer = await ask(modern(method));
      expect(answer.status, method).to.equal(404);
      expect(answer.message['error'], method).to.deep.equal({ code: -32601, message: 'Method not found' });
    }
  });

  it('lists by scope, and answers a call beyond it with 403 and the scope it needs', async () => {
    const listed = await ask(modern('tools/list'), {}, `${ANN}/r`);
    expect(listed.message['result'].tools.map(({ name }: { name: string }) => name)).to.deep.equal([
      'memory_search',
      'memory_context',
      'memory_get',
    ]);
    const refused = await ask(modern('tools/call', { name: 'memory_write', arguments: { content: 'tea' } }), {}, `${ANN}/r`);
    expect(refused.status).to.equal(403);
    expect(refused.headers.get('www-authenticate')).to.equal(
      `Bearer realm="hindsight-es", error="insufficient_scope", scope="memory:write", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(refused.message).to.deep.include({ id: 1 });
    expect(refused.message['error'].data).to.deep.equal({ code: 'ERR_SCOPE_MISSING' });
    expect(server.memory.calls).to.have.length(0);
  });

  it('tells every other failure as a result that the model can read', async () => {
    const bad = await ask(search({ arguments: { query: 7 } }));
    expect(bad.status).to.equal(200);
    expect(bad.message['result']).to.include({ isError: true, resultType: 'complete' });
    expect(failureOf(bad)).to.deep.include({ code: 'ERR_REQUEST_INVALID' });
    server.refusing = 'memory_search';
    expect(failureOf(await ask(search()))).to.include({ code: 'ERR_RATE_LIMITED', retry_after_seconds: 7 });
    server.refusing = undefined;
    server.memory.intercept = async () => {
      throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('connect 10.0.0.1') });
    };
    const down = await ask(search());
    expect(failureOf(down)).to.include({ code: 'ERR_STORE_UNAVAILABLE' });
    expect(down.text).to.not.contain('10.0.0.1');
  });

  it('goes on with the trace that _meta names', async () => {
    const answer = await ask(search({}), {});
    expect(answer.message['result'].structuredContent.trace_id).to.match(/^[0-9a-f]{32}$/);
    const body = modern('tools/call', { name: 'memory_search', arguments: { query: 'tea' } }, { traceparent: TRACEPARENT });
    const traced = await ask(body);
    expect(traced.message['result'].structuredContent.trace_id).to.equal('0af7651916cd43dd8448eb211c80319c');
    expect(traced.headers.get('traceparent')).to.match(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/);
    expect(server.memory.calls.at(-1)?.call.traceId).to.equal('0af7651916cd43dd8448eb211c80319c');
    const invalid = modern('tools/call', { name: 'memory_search', arguments: { query: 'tea' } }, { traceparent: 'nonsense' });
    expect((await ask(invalid, { traceparent: TRACEPARENT })).message['result'].structuredContent.trace_id).to.equal(
      '0af7651916cd43dd8448eb211c80319c',
    );
  });

  it('ends a call when its client closes the connection', async () => {
    let ended = false;
    server.memory.intercept = ({ call: { signal } }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          ended = true;
          reject(new Error('left'));
        });
      });
    const body = search();
    const leave = sendAndLeave(server, body, undefined, modernHeaders(body));
    await until(() => server.memory.calls.length === 1);
    leave();
    await until(() => ended);
  });

  it('takes a notification without acting upon it, and no batch', async () => {
    const notification = { ...call('memory_write', { content: 'tea' }), ...modern('tools/call', { name: 'memory_write' }), id: undefined };
    expect((await ask(notification)).status).to.equal(202);
    const batch = await send(server, [search()], { headers: modernHeaders(search()) });
    expect(batch.status).to.equal(400);
    expect(server.memory.calls).to.have.length(0);
  });
});
