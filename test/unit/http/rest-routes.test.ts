import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import { operations } from '../../../src/operations/index.ts';
import { MEMORY_ID, VIEW } from './support/memory-double.ts';
import { ADMIN, READER, startServer, TOKEN, type TestServer } from './support/test-server.ts';

const ONE = `/v1/memories/${MEMORY_ID}`;

describe('http/routes', () => {
  let test: TestServer;
  beforeEach(async () => {
    test = await startServer();
  });
  afterEach(() => test.listening.close());

  it('writes, and hands on trace, route and idempotency key', async () => {
    const answer = await test.post('/v1/memories', { content: '李明对花生过敏' }, { headers: { 'idempotency-key': 'k-1' } });
    expect(answer.status).to.equal(200);
    expect(answer.json['results']).to.have.length(1);
    const [noted] = test.memory.calls;
    expect(noted?.input).to.deep.equal({ content: '李明对花生过敏' });
    expect(noted?.call).to.include({ idempotencyKey: 'k-1', route: 'POST /v1/memories', traceId: answer.json['trace_id'] });
    expect(noted?.call.principal.sub).to.equal('ann');
  });

  it('searches by POST only and keeps the id route away from it', async () => {
    expect((await test.post('/v1/memories/search', { query: 'tea' })).json).to.include({ nothing_relevant: true });
    const get = await test.request('GET', '/v1/memories/search');
    expect(get.status).to.equal(405);
    expect(get.headers.allow).to.equal('POST, OPTIONS');
  });

  it('lists with flat parameters', async () => {
    const answer = await test.request('GET', '/v1/memories?kind=fact&kind=event&created_gte=2026-01-01T00:00:00Z&limit=2');
    expect(answer.status).to.equal(200);
    expect(test.memory.calls[0]?.input).to.deep.equal({
      filter: { kind: ['fact', 'event'], created: { gte: '2026-01-01T00:00:00Z' } },
      limit: 2,
    });
  });

  it('names a faulty parameter, not the field behind it', async () => {
    const answer = await test.request('GET', '/v1/memories?created_gte=yesterday&kind=gossip');
    expect(answer.status).to.equal(400);
    const pointers = (answer.json['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(pointers).to.have.members(['/created_gte', '/kind/0']);
    expect(answer.text).to.not.contain('yesterday').and.not.contain('gossip');
  });

  it('reads one memory with its ETag', async () => {
    const answer = await test.request('GET', ONE);
    expect(answer.status).to.equal(200);
    expect(answer.headers.etag).to.equal('"3"');
    expect(answer.json).to.deep.equal({ ...VIEW, trace_id: answer.json['trace_id'] });
  });

  it('answers 304 to the ETag at hand, and 200 to another', async () => {
    for (const tag of ['"3"', '"2", "3"', 'W/"3"', '*']) {
      const same = await test.request('GET', ONE, { headers: { 'if-none-match': tag } });
      expect(same.status, tag).to.equal(304);
      expect(same.text).to.equal('');
    }
    expect((await test.request('GET', ONE, { headers: { 'if-none-match': '"2"' } })).status).to.equal(200);
  });

  it('answers HEAD like GET, without the body', async () => {
    const answer = await test.request('HEAD', ONE);
    expect(answer.status).to.equal(200);
    expect(answer.headers.etag).to.equal('"3"');
    expect(answer.text).to.equal('');
  });

  it('updates under If-Match and answers the new ETag', async () => {
    const answer = await test.request('PATCH', ONE, { body: '{"content":"coffee"}', headers: { 'if-match': '"3"' } });
    expect(answer.status).to.equal(200);
    expect(answer.headers.etag).to.equal('"4"');
    expect(test.memory.calls[0]?.input).to.deep.equal({ memory_id: MEMORY_ID, version: 3, content: 'coffee' });
  });

  it('sets no version for If-Match: * and an impossible one for tags it never gave', async () => {
    await test.request('PATCH', ONE, { body: '{"content":"a"}', headers: { 'if-match': '*' } });
    await test.request('PATCH', ONE, { body: '{"content":"a"}', headers: { 'if-match': 'W/"3"' } });
    await test.request('DELETE', ONE, { headers: { 'if-match': '"abc"' } });
    expect(test.memory.calls.map(({ input }) => input['version'])).to.deep.equal([
      undefined,
      Number.MAX_SAFE_INTEGER,
      Number.MAX_SAFE_INTEGER,
    ]);
  });

  it('refuses an If-Match that is a list, is no tag, or differs from the body', async () => {
    for (const [tag, body] of [
      ['"3", "4"', '{"content":"a"}'],
      ['3', '{"content":"a"}'],
      ['', '{"content":"a"}'],
      ['"3"', '{"content":"a","version":4}'],
    ] as const) {
      const answer = await test.request('PATCH', ONE, { body, headers: { 'if-match': tag } });
      expect(answer.status, tag).to.equal(400);
      expect(answer.json['errors']).to.have.nested.property('[0].pointer', '/version');
    }
    expect(test.memory.calls).to.deep.equal([]);
  });

  it('answers 412 with the version that stands', async () => {
    test.memory.intercept = async () => {
      throw new HindsightError('ERR_PRECONDITION_FAILED', { params: { version: 5 } });
    };
    const answer = await test.request('PATCH', ONE, { body: '{"content":"a"}', headers: { 'if-match': '"3"' } });
    expect(answer.status).to.equal(412);
    expect(answer.json).to.include({ code: 'ERR_PRECONDITION_FAILED', detail: 'The memory is at version 5, not at the one in If-Match' });
  });

  it('forgets by id with DELETE and by query with POST', async () => {
    await test.request('DELETE', `${ONE}?version=3`);
    await test.post('/v1/memories/forget', { query: '搬家', dry_run: true });
    expect(test.memory.calls.map(({ method, input }) => [method, input])).to.deep.equal([
      ['forget', { memory_id: MEMORY_ID, version: 3 }],
      ['forget', { query: '搬家', dry_run: true }],
    ]);
  });

  it('does not let DELETE of one memory carry a query', async () => {
    const answer = await test.request('DELETE', `${ONE}?query=everything`);
    expect(answer.status).to.equal(400);
    expect(test.memory.calls).to.deep.equal([]);
  });

  it('answers the history', async () => {
    const answer = await test.request('GET', `${ONE}/history`);
    expect(answer.json).to.include({ memory_id: MEMORY_ID });
  });

  it('refuses the id in path and body at once', async () => {
    const answer = await test.request('PATCH', ONE, { body: JSON.stringify({ memory_id: MEMORY_ID, content: 'a' }) });
    expect(answer.status).to.equal(400);
    expect(answer.json['errors']).to.have.nested.property('[0].pointer', '/memory_id');
  });

  it('refuses query parameters on routes that take a body', async () => {
    const answer = await test.post('/v1/memories/search?namespace=t2', { query: 'q' });
    expect(answer.status).to.equal(400);
    expect(test.memory.calls).to.deep.equal([]);
  });

  it('says how the caller stands with the limit', async () => {
    const answer = await test.post('/v1/memories/search', { query: 'q' });
    expect(answer.headers['ratelimit-policy']).to.equal('"memory_search";q=100;w=60');
    expect(answer.headers['ratelimit']).to.equal('"memory_search";r=98;t=30');
    expect(test.consumed).to.deep.equal([
      { operation: 'http', cost: 1 },
      { operation: 'memory_search', cost: 2 },
    ]);
  });

  it('says how the caller stands with the coarse limit where no operation counts, and keeps it through a failure', async () => {
    const page = await test.request('GET', '/openapi.json');
    expect(page.headers['ratelimit-policy']).to.equal('"http";q=100;w=60');
    expect(page.headers['ratelimit']).to.equal('"http";r=99;t=30');
    expect((await test.request('GET', '/nowhere')).headers['ratelimit']).to.equal('"http";r=99;t=30');
    expect((await test.request('GET', '/livez')).headers).to.not.have.property('ratelimit');
  });

  it('names the bucket that refused', async () => {
    test.memory.intercept = async () => {
      const params = { policy: 'memory_search', limit: 100, window_seconds: 60, seconds: 7 };
      throw new HindsightError('ERR_RATE_LIMITED', { params, retryAfterSeconds: 7 });
    };
    const answer = await test.post('/v1/memories/search', { query: 'q' });
    expect(answer.headers).to.include({
      'ratelimit-policy': '"memory_search";q=100;w=60',
      ratelimit: '"memory_search";r=0;t=7',
      'retry-after': '7',
    });
  });

  for (const bucket of ['http', 'memory_search'])
    it(`answers 429 with Retry-After when ${bucket} is used up`, async () => {
      test.refusing = bucket;
      const answer = await test.post('/v1/memories/search', { query: 'q' });
      expect(answer.status).to.equal(429);
      expect(answer.headers['retry-after']).to.equal('7');
      expect(answer.json).to.include({ code: 'ERR_RATE_LIMITED' });
      expect(test.memory.calls).to.deep.equal([]);
    });

  it('answers 503 with Retry-After when the store is away, never an empty list', async () => {
    test.memory.intercept = async () => {
      throw new HindsightError('ERR_STORE_UNAVAILABLE', { retryAfterSeconds: 2, cause: new Error('ECONNREFUSED 127.0.0.1:9200') });
    };
    for (const [method, path, body] of [
      ['POST', '/v1/memories/search', '{"query":"q"}'],
      ['GET', '/v1/memories', undefined],
      ['GET', ONE, undefined],
    ] as const) {
      const answer = await test.request(method, path, body === undefined ? {} : { body });
      expect(answer.status).to.equal(503);
      expect(answer.headers['retry-after']).to.equal('2');
      expect(answer.text).to.not.contain(':9200');
    }
  });

  it('answers 403 with the scope that is needed', async () => {
    const answer = await test.post('/v1/memories', { content: 'x' }, { token: READER });
    expect(answer.status).to.equal(403);
    expect(answer.headers['www-authenticate']).to.equal('Bearer realm="hindsight-es", error="insufficient_scope", scope="memory:write"');
    expect(answer.json).to.include({ code: 'ERR_SCOPE_MISSING', detail: 'This call needs the scope memory:write' });
  });

  it('keeps upstream text and stacks out of a 500', async () => {
    test.memory.intercept = async () => {
      throw new Error('parsing_exception: [bool] at line 1');
    };
    const answer = await test.post('/v1/memories/search', { query: 'q' });
    expect(answer.status).to.equal(500);
    expect(answer.json).to.include({ code: 'ERR_INTERNAL', title: 'Internal Server Error' });
    expect(answer.text)
      .to.not.contain('parsing_exception')
      .and.not.match(/\bat .*\.ts/);
    expect(test.logs.filter(({ level }) => level === 'error')).to.have.length(1);
  });

  it('logs one line and one metric for each request, by route and never by path or query', async () => {
    await test.request('GET', `${ONE}?raw=maybe-secret`);
    await test.request('GET', '/nowhere/secret');
    expect(test.requests).to.deep.equal([
      { method: 'GET', route: '/v1/memories/:memory_id', status: 400 },
      { method: 'unknown', route: 'unknown', status: 404 },
    ]);
    expect(JSON.stringify(test.logs)).to.not.contain('secret').and.not.contain(MEMORY_ID);
  });

  describe('shape of every answer', () => {
    it('has security headers, also on failure', async () => {
      for (const path of ['/v1/memories', '/nowhere', '/livez']) {
        const { headers } = await test.request('GET', path);
        expect(headers).to.include({
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        });
        expect(headers).to.not.have.property('x-powered-by');
        expect(headers).to.not.have.property('server');
      }
    });

    it('carries the caller’s trace on under a new span', async () => {
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
      const answer = await test.request('GET', ONE, {
        headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-request-id': 'r.1' },
      });
      expect(answer.headers['traceparent']).to.match(new RegExp(`^00-${traceId}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
      expect(answer.headers['x-request-id']).to.equal('r.1');
      expect(answer.json['trace_id']).to.equal(traceId);
    });

    it('makes ids of its own for those that do not fit', async () => {
      for (const traceparent of ['garbage', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `ff-${'a'.repeat(32)}-00f067aa0ba902b7-01`]) {
        const answer = await test.request('GET', ONE, { headers: { traceparent, 'x-request-id': 'a b<script>' } });
        expect(answer.headers['traceparent']).to.match(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
        expect(answer.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
      }
    });

    it('is a problem of RFC 9457 on failure', async () => {
      const answer = await test.request('GET', '/nowhere');
      expect(answer.headers['content-type']).to.equal('application/problem+json');
      expect(answer.json).to.deep.equal({
        type: 'urn:hindsight-es:error:ERR_ROUTE_NOT_FOUND',
        title: 'Not Found',
        status: 404,
        detail: 'There is no such route',
        instance: `urn:hindsight-es:trace:${String(answer.json['trace_id'])}`,
        code: 'ERR_ROUTE_NOT_FOUND',
        trace_id: answer.json['trace_id'],
      });
    });
  });

  describe('paths and methods', () => {
    const strange = [
      '/v1//memories',
      '//v1/memories',
      '/v1/memories/',
      '/V1/memories',
      '/v1/Memories',
      '/v1/./memories',
      '/v1/x/../memories',
      '/v1/%6demories',
      '/v1%2fmemories',
      `${ONE}/`,
      `${ONE}/history/`,
      '/v1/memories/search/',
      '/v1/memories;x=1',
      '/livez/',
      '/Livez',
    ];
    for (const path of strange)
      it(`knows no ${path}, with a token 404 and without 401`, async () => {
        expect((await test.request('GET', path)).status).to.equal(404);
        expect((await test.request('GET', path, { token: null })).status).to.equal(401);
      });

    it('takes no encoded traversal for an id', async () => {
      for (const id of ['%2e%2e', '..%2f..', '%00', 'a%2Fb', '%ff', '*', 'T2', '..'])
        expect((await test.request('GET', `/v1/memories/${id}`)).json, id).to.deep.include({ code: 'ERR_REQUEST_INVALID', status: 400 });
      expect(test.memory.calls).to.deep.equal([]);
    });

    it('answers 405 with Allow for other methods of a known path', async () => {
      for (const [method, path, allow] of [
        ['PUT', '/v1/memories', 'POST, GET, HEAD, OPTIONS'],
        ['TRACE', '/v1/memories', 'POST, GET, HEAD, OPTIONS'],
        ['POST', ONE, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
        ['PROPFIND', ONE, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      ] as const) {
        const answer = await test.request(method, path);
        expect(answer.status, `${method} ${path}`).to.equal(405);
        expect(answer.headers.allow).to.equal(allow);
        expect(answer.text).to.not.contain(TOKEN);
      }
    });

    it('answers OPTIONS without a token and without a call', async () => {
      const answer = await test.request('OPTIONS', '/v1/memories', { token: null });
      expect(answer.status).to.equal(204);
      expect(answer.headers.allow).to.equal('POST, GET, HEAD, OPTIONS');
    });

    it('pays no heed to method override headers', async () => {
      const answer = await test.request('GET', ONE, {
        headers: { 'x-http-method-override': 'DELETE', 'x-http-method': 'DELETE', 'x-method-override': 'DELETE' },
      });
      expect(answer.status).to.equal(200);
      expect(test.memory.calls.map(({ method }) => method)).to.deep.equal(['get']);
    });

    it('takes the tenant from the token, whatever headers say', async () => {
      await test.request('GET', ONE, { headers: { 'x-tenant': 't2', 'x-tenant-id': 't2', 'x-forwarded-host': 'evil.example' } });
      expect(test.memory.calls[0]?.call.principal.tenant).to.equal('acme');
    });
  });

  it('takes every example of every operation', async () => {
    for (const operation of operations)
      for (const binding of operation.http.filter(({ method }) => method !== 'GET' && method !== 'DELETE'))
        for (const example of operation.examples) {
          const fields: Record<string, unknown> = { ...example };
          if (binding.path.includes(':memory_id') !== 'memory_id' in fields && operation.name !== 'memory_forget')
            throw new Error('example does not fit');
          const body = { ...fields };
          const path = binding.path.replace(/:(\w+)/g, (_all, name: string) => {
            delete body[name];
            return String(fields[name]);
          });
          const answer = await test.request(binding.method, path, { body: JSON.stringify(body), token: ADMIN });
          expect(answer.status, `${operation.name} ${answer.text}`).to.equal(200);
        }
  });
});
