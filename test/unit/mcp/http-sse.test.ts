import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { expect } from 'chai';
import { ANN, BOB, call, EVE, initialize, startMcp, until, type McpServer } from './support/mcp-server.ts';
import { openSse, post, type SseStream } from './support/sse-client.ts';
import { operations } from '../../../src/operations/index.ts';

/** Tools that a caller with every scope is shown. */
const DEFAULT_TOOLS = operations.filter(({ mcp }) => mcp.tool === 'default').length;

const SEARCH = call('memory_search', { query: 'tea' });

describe('mcp/http-sse', () => {
  let server: McpServer;
  const streams: SseStream[] = [];
  async function open(token = ANN): Promise<SseStream> {
    const stream = await openSse(server, token);
    streams.push(stream);
    return stream;
  }
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.leave();
    await server.close();
  });

  it("serves the SDK's own client", async () => {
    server = await startMcp();
    const headers = { authorization: `Bearer ${ANN}` };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new SSEClientTransport(new URL('/sse', server.url), {
        requestInit: { headers },
        eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...(init.headers as object), ...headers } }) },
      }),
    );
    expect((await client.listTools()).tools).to.have.length(DEFAULT_TOOLS);
    const result = await client.callTool({ name: 'memory_search', arguments: { query: 'tea' } });
    expect(result.structuredContent).to.include({ nothing_relevant: true });
    expect(server.memory.calls[0]?.call.principal).to.include({ tenant: 'acme', sub: 'ann' });
    await client.close();
    await until(() => server.mount.sseCount() === 0);
  });

  it('opens with where to post, unbuffered, and answers on the stream', async () => {
    server = await startMcp();
    const stream = await open();
    expect(stream.headers['content-type']).to.equal('text/event-stream');
    expect(stream.headers['x-accel-buffering']).to.equal('no');
    expect(stream.endpoint).to.match(/^\/messages\?sessionId=[\w-]{24}$/);
    expect((await post(server, stream.endpoint, initialize({}))).status).to.equal(202);
    await until(() => stream.messages.length === 1);
    expect(stream.messages[0]).to.deep.include({ id: 1 });
    expect(stream.messages[0]?.['result'].serverInfo).to.include({ name: 'hindsight-es' });
  });

  it('beats every 25 seconds on every stream', async () => {
    const timers = new Map<number, () => void>();
    server = await startMcp({
      every: (ms, run) => {
        timers.set(ms, run);
        return () => timers.delete(ms);
      },
    });
    const both = [await open(ANN), await open(EVE)];
    timers.get(25_000)?.();
    timers.get(25_000)?.();
    await until(() => both.every(({ text }) => text().endsWith(': ping\n\n: ping\n\n')));
    await server.mount.close();
    expect(timers.size).to.equal(0);
  });

  it('knows a session only for who opened it, by tenant and person, and judges each message by its own token', async () => {
    server = await startMcp();
    const stream = await open(ANN);
    for (const token of [BOB, EVE]) expect((await post(server, stream.endpoint, SEARCH, token)).status, token).to.equal(404);
    for (const token of [`${ANN}/bad`, null]) expect((await post(server, stream.endpoint, SEARCH, token)).status).to.equal(401);
    for (const endpoint of ['/messages', '/messages?sessionId=', '/messages?sessionId=guess'])
      expect((await post(server, endpoint, SEARCH)).status, endpoint).to.equal(404);
    expect(server.memory.calls).to.have.length(0);

    await post(server, stream.endpoint, initialize({}));
    await post(server, stream.endpoint, { ...SEARCH, id: 2 }, `${ANN}/2`);
    await post(server, stream.endpoint, call('memory_write', { content: 'tea' }, 3), `${ANN}/r`);
    await until(() => stream.messages.length === 3);
    const byId = new Map(stream.messages.map((message) => [message['id'], message]));
    expect(byId.get(2)?.['result'].structuredContent).to.include({ nothing_relevant: true });
    expect(byId.get(3)?.['result']).to.include({ isError: true });
    expect(server.memory.calls.map(({ method }) => method)).to.deep.equal(['search']);
  });

  it('refuses a batch and what is no JSON-RPC, with the reason in its own form', async () => {
    server = await startMcp();
    const { endpoint } = await open();
    for (const body of [[SEARCH], { hello: 1 }, 'text']) {
      const answer = await post(server, endpoint, body);
      expect(answer.status).to.equal(400);
      expect(((await answer.json()) as { error: object }).error).to.include({ code: -32600 });
    }
    expect(server.memory.calls).to.have.length(0);
  });

  it('has so many streams for a tenant, and one again when one ends', async () => {
    server = await startMcp({ maxSseStreamsPerTenant: 2 });
    const first = await open(ANN);
    await open(BOB);
    expect((await fetch(new URL('/sse', server.url), { headers: { authorization: `Bearer ${ANN}` } })).status).to.equal(503);
    await open(EVE);
    first.leave();
    await until(() => server.mount.sseCount() === 2);
    await open(ANN);
  });

  it('ends the stream with the token that opened it', async () => {
    const endsAt = Date.parse('2026-03-01T12:00:00.000Z') / 1_000 + 60;
    server = await startMcp({ tokensEndAt: endsAt });
    const stream = await open();
    server.time.nowMs = endsAt * 1_000 - 1;
    await server.mount.sweep();
    expect(server.mount.sseCount()).to.equal(1);
    server.time.nowMs = endsAt * 1_000;
    await server.mount.sweep();
    await until(() => stream.ended());
    expect((await post(server, stream.endpoint, SEARCH)).status).to.equal(404);
  });

  it('ends its calls when the client leaves, and cancels one by notification', async () => {
    server = await startMcp();
    const ended: string[] = [];
    server.memory.intercept = ({ input, call: { signal } }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(String(input['query']));
          reject(new Error('left'));
        });
      });
    const stream = await open();
    await post(server, stream.endpoint, initialize({}));
    await post(server, stream.endpoint, call('memory_search', { query: 'one' }, 7));
    await post(server, stream.endpoint, call('memory_search', { query: 'two' }, 8));
    await until(() => server.memory.calls.length === 2);
    await post(server, stream.endpoint, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    await until(() => ended.length === 1);
    expect(ended).to.deep.equal(['one']);
    stream.leave();
    await until(() => ended.length === 2);
  });

  it('ends every stream at the end of the service and takes no new one', async () => {
    server = await startMcp();
    const stream = await open();
    await server.mount.close();
    await until(() => stream.ended());
    expect((await fetch(new URL('/sse', server.url), { headers: { authorization: `Bearer ${ANN}` } })).status).to.equal(503);
  });

  it('is not there when switched off', async () => {
    server = await startMcp({ sse: false });
    expect((await fetch(new URL('/sse', server.url), { headers: { authorization: `Bearer ${ANN}` } })).status).to.equal(404);
    expect((await post(server, '/messages?sessionId=x', SEARCH)).status).to.equal(404);
  });
});
