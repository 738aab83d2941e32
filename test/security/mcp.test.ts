/** Scenarios M1 to M8 of the threat list: sessions, crossing answers, foreign pages, batches, what tools and errors give away. */
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { HindsightError } from '../../src/errors.ts';
import {
  ANN,
  BOB,
  call,
  connectClient,
  EVE,
  failureOf,
  initialize,
  openSession,
  PUBLIC_URL,
  send,
  startMcp,
  type McpServer,
} from '../unit/mcp/support/mcp-server.ts';

const FOUND = { hits: [], nothing_relevant: true, took_ms: 1 };

describe('security: mcp', () => {
  let server: McpServer;
  beforeEach(async () => {
    server = await startMcp();
  });
  afterEach(() => server.close());

  /** Answers a search with who asked what, after a random number of turns of the event loop. */
  function echoCaller(): void {
    server.memory.intercept = async ({ input, call: { principal } }) => {
      for (let turns = Math.floor(Math.random() * 4); turns > 0; turns -= 1) await new Promise(setImmediate);
      return { ...FOUND, degraded: [`${principal.tenant}/${principal.sub}: ${String(input['query'])}`] };
    };
  }

  it('M1 does not know a session of another person or tenant, for no method', async () => {
    const session = await openSession(server, ANN);
    for (const token of [BOB, EVE])
      for (const method of ['POST', 'GET', 'DELETE']) {
        const body = method === 'POST' ? call('memory_search', { query: 'tea' }) : undefined;
        const answer = await send(server, body, { token, session, method });
        expect(answer.status, `${token} ${method}`).to.equal(404);
        expect(answer.message['error'].message).to.equal('Session not found');
      }
    expect(server.memory.calls).to.have.length(0);
    expect((await send(server, call('memory_search', { query: 'tea' }), { session })).status).to.equal(200);
  });

  it('M1 answers a stranger’s id, a guessed one and an ended one alike', async () => {
    const ended = await openSession(server, ANN);
    await send(server, undefined, { method: 'DELETE', session: ended });
    const foreign = await openSession(server, BOB);
    const texts = new Set<string>();
    for (const session of [ended, foreign, 'guess', `${foreign.slice(0, -1)}A`, '1', 'a'.repeat(4_000)])
      texts.add((await send(server, call('memory_search', { query: 'tea' }), { session })).text);
    expect(texts.size).to.equal(1);
  });

  it('M1 wants the token with every request of a session, and keeps the session over a refreshed one', async () => {
    const session = await openSession(server, ANN);
    for (const token of [null, `${ANN}/bad`])
      expect((await send(server, call('memory_search', { query: 'tea' }), { token, session })).status).to.equal(401);
    expect((await send(server, call('memory_search', { query: 'tea' }), { token: `${ANN}/2`, session })).status).to.equal(200);
    const narrower = await send(server, call('memory_write', { content: 'tea' }), { token: `${ANN}/r`, session });
    expect(failureOf(narrower)).to.include({ code: 'ERR_SCOPE_MISSING' });
  });

  it('M3 gives two tenants that use the same JSON-RPC id their own answers, 200 rounds', async () => {
    echoCaller();
    const sessions = new Map<string, string>();
    for (const token of [ANN, EVE]) sessions.set(token, await openSession(server, token));
    for (let round = 0; round < 200; round += 1) {
      const asked = [ANN, EVE].map((token) => ({ token, session: round % 2 === 0 ? sessions.get(token) : undefined }));
      const answers = await Promise.all(
        asked.map((options) => send(server, call('memory_search', { query: `round ${round}` }, 1), options)),
      );
      const got = answers.map(({ message }) => [message['id'], message['result'].structuredContent.degraded[0]]);
      expect(got).to.deep.equal(asked.map(({ token }) => [1, `${token}: round ${round}`]));
    }
  });

  it('M3 gives the SDK’s clients of two tenants their own answers', async () => {
    echoCaller();
    const tokens = [ANN, EVE, ANN, BOB];
    const clients = await Promise.all(tokens.map((token, i) => connectClient(server, token, i % 2 === 0)));
    const answers = clients.flatMap((client, i) =>
      Array.from({ length: 10 }, async (_, n) => {
        const result = await client.callTool({ name: 'memory_search', arguments: { query: `${n}` } });
        expect((result.structuredContent as { degraded: string[] }).degraded).to.deep.equal([`${tokens[i]}: ${n}`]);
      }),
    );
    await Promise.all(answers);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('M4 refuses a foreign Host, as a rebound name sends it', async () => {
    const statusFor = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = {
          host,
          authorization: `Bearer ${ANN}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        };
        const request = httpRequest(server.url, { method: 'POST', headers, agent: false }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        request.on('error', reject);
        request.end(JSON.stringify(call('memory_search', { query: 'tea' })));
      });
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '[::ffff:7f00:1]'])
      expect(await statusFor(host), host).to.equal(403);
    expect(server.memory.calls).to.have.length(0);
    expect(await statusFor('localhost:8080')).to.equal(200);
  });

  it('M4 refuses foreign origins before it looks at the token', async () => {
    const evil = [
      'https://evil.example',
      'null',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
      'https://page.example:444',
    ];
    for (const origin of evil) {
      const answer = await send(server, call('memory_search', { query: 'tea' }), { headers: { origin }, token: null });
      expect(answer.status, origin).to.equal(403);
      expect(answer.message['error'].data).to.deep.equal({ code: 'ERR_ORIGIN_FORBIDDEN' });
      expect(answer.headers.get('access-control-allow-origin')).to.equal(null);
    }
    expect((await send(server, initialize({}), { headers: { origin: 'https://page.example' } })).status).to.equal(200);
    expect((await send(server, initialize({}))).status).to.equal(200);
  });

  it('M5 takes no body that a page could send without asking', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const answer = await send(server, call('memory_write', { content: 'tea' }), { headers: { 'content-type': type } });
      expect(answer.status, type).to.equal(415);
    }
    expect(server.memory.calls).to.have.length(0);
  });

  it('M7 refuses batches of any size before a call of them runs', async () => {
    for (const size of [0, 1, 2, 1_000]) {
      const batch = Array.from({ length: size }, (_, i) => call('memory_write', { content: 'tea' }, i));
      const answer = await send(server, batch);
      expect(answer.status).to.equal(400);
      expect(answer.message['error'].code).to.equal(-32600);
    }
    expect(server.memory.calls).to.have.length(0);
  });

  it('M7 runs nothing for a notification, in a session neither', async () => {
    const session = await openSession(server);
    const notification = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'memory_write', arguments: { content: 'tea' } } };
    expect((await send(server, notification, { session })).status).to.equal(202);
    expect((await send(server, notification)).status).to.equal(202);
    await send(server, call('memory_search', { query: 'tea' }), { session });
    expect(server.memory.calls.map(({ method }) => method)).to.deep.equal(['search']);
  });

  it('M7 survives a storm of cancellations', async () => {
    const session = await openSession(server);
    const cancel = (requestId: unknown) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    const storm = Array.from({ length: 100 }, (_, i) => send(server, cancel(i % 2 === 0 ? i : { i }), { session }));
    for (const { status } of await Promise.all(storm)) expect(status).to.equal(202);
    expect((await send(server, call('memory_search', { query: 'tea' }, 1), { session })).status).to.equal(200);
  });

  it('M8 shows every tenant the same list, without a word about any', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const texts = await Promise.all([ANN, BOB, EVE].map(async (token) => (await send(server, list, { token })).text));
    expect(new Set(texts).size).to.equal(1);
    expect(texts[0]).to.not.match(/acme|globex|bob/);
  });

  it('M8 gives away no stack, no engine text and no memory in an error', async () => {
    const inside = 'index_not_found_exception [hs-mem-0a1b] at /srv/app/src/elastic/client.ts:42:7 secret-content';
    const failures = [
      new Error(inside),
      Object.assign(new Error(inside), { code: 42, data: { inside } }),
      new HindsightError('ERR_STORE_REJECTED', { cause: new Error(inside) }),
      inside,
      null,
    ];
    for (const failure of failures) {
      server.memory.intercept = async () => {
        throw failure as Error;
      };
      const session = await openSession(server);
      for (const options of [{}, { session }]) {
        const answer = await send(server, call('memory_search', { query: 'tea' }), options);
        expect(answer.status).to.equal(200);
        expect(answer.message['result'].isError).to.equal(true);
        expect(failureOf(answer)['code']).to.be.oneOf(['ERR_INTERNAL', 'ERR_STORE_REJECTED']);
        expect(answer.text).to.not.match(/exception|hs-mem|\.ts|secret-content|node_modules/);
      }
    }
  });

  it('M8 repeats no value of a bad argument', async () => {
    for (const args of [
      { query: 7, 'x-secret-content': 1 },
      { query: 'tea', filter: { kind: ['secret-content'] } },
      { query: 'secret-content\0' },
    ])
      expect((await send(server, call('memory_search', args))).text, JSON.stringify(args)).to.not.contain('secret-content');
  });

  it('M10 tells a client without a token where to get one, by an absolute URL', async () => {
    const missing = await send(server, initialize({}), { token: null });
    expect(missing.status).to.equal(401);
    expect(missing.headers.get('www-authenticate')).to.equal(
      `Bearer realm="hindsight-es", scope="memory:read", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(missing.message['error']).to.include({ code: -32001, message: 'A bearer token is required' });
    const refused = await send(server, initialize({}), { token: `${ANN}/bad` });
    expect(refused.headers.get('www-authenticate')).to.contain('error="invalid_token"');
    const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', server.url));
    expect(await metadata.json()).to.include({ resource: `${PUBLIC_URL}/mcp` });
  });

  it('D1 refuses a body over 8 MiB, and arguments over the field’s limit', async () => {
    const large = await send(server, call('memory_write', { content: 'x'.repeat(9 * 1_048_576) }));
    expect(large.status).to.equal(413);
    expect(large.message['error'].data).to.deep.equal({ code: 'ERR_REQUEST_TOO_LARGE' });
    const long = await send(server, call('memory_write', { content: 'x'.repeat(32_001) }));
    expect(failureOf(long)['errors'][0].pointer).to.equal('/content');
    expect(long.text.length).to.be.below(1_000);
  });

  it('D1 refuses prototype keys, NUL and lone surrogates in arguments', async () => {
    const raw = (args: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_write","arguments":${args}}}`;
    expect((await send(server, raw('{"content":"x","__proto__":{"tools":1}}'))).status).to.equal(400);
    for (const args of ['{"content":"a\\u0000b"}', '{"content":"a\\ud800b"}'])
      expect(failureOf(await send(server, raw(args)))['errors'][0]).to.include({ pointer: '/content' });
    expect(server.memory.calls).to.have.length(0);
  });
});
