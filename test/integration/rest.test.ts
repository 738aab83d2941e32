import { expect } from 'chai';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mcpFrontEnd } from '../support/scenario-front-ends.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const ABSENT = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('REST on the composed service', function () {
  this.timeout(60_000);
  let service: HashedService;
  let token: string;

  before(async () => {
    service = await startHashedService();
    token = await service.mint();
  });
  after(() => service.close());

  const write = async (content: string, more: object = {}): Promise<string> => {
    const { body } = await service.call('POST', '/v1/memories', token, { content, ...more });
    return body.results[0].memory_id;
  };
  const problem = (answer: Answer, status: number, code: string): void => {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
    expect(answer.headers.get('content-type')).to.equal('application/problem+json');
    expect(answer.body).to.include({ status, code, type: `urn:hindsight-es:error:${code}` });
    expect(answer.body.trace_id).to.match(/^[0-9a-f]{32}$/);
  };

  it('carries the caller’s trace through the answer’s headers and body, also through a problem', async () => {
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
    const good = await service.call('POST', '/v1/memories/search', token, { query: 'trace' }, { traceparent });
    expect(good.body.trace_id).to.equal(TRACE);
    expect(good.headers.get('traceparent')).to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(good.headers.get('traceparent')).not.to.contain('00f067aa0ba902b7');
    const bad = await service.call('GET', `/v1/memories/${ABSENT}`, token, undefined, { traceparent });
    problem(bad, 404, 'ERR_MEMORY_NOT_FOUND');
    expect(bad.body).to.include({ trace_id: TRACE, instance: `urn:hindsight-es:trace:${TRACE}` });
    const fresh = await service.call('GET', '/v1/memories', token, undefined, { traceparent: '00-junk' });
    expect(fresh.body.trace_id).to.match(/^[0-9a-f]{32}$/);
  });

  it('tags every version, answers 304 to who has it and 412 to who would overwrite another', async () => {
    const path = `/v1/memories/${await write('The kettle holds one litre.')}`;
    const first = await service.call('GET', path, token);
    expect(first.headers.get('etag')).to.equal('"1"');
    const same = await service.call('GET', path, token, undefined, { 'if-none-match': '"1"' });
    expect([same.status, same.body]).to.deep.equal([304, '']);
    const patched = await service.call('PATCH', path, token, { content: 'The kettle holds two litres.' }, { 'if-match': '"1"' });
    expect([patched.status, patched.headers.get('etag'), patched.body.version]).to.deep.equal([200, '"2"', 2]);
    const changed = await service.call('GET', path, token, undefined, { 'if-none-match': '"1"' });
    expect([changed.status, changed.headers.get('etag')]).to.deep.equal([200, '"2"']);
    for (const tag of ['"1"', 'W/"2"', '"never"']) {
      problem(await service.call('PATCH', path, token, { content: 'Lost update.' }, { 'if-match': tag }), 412, 'ERR_PRECONDITION_FAILED');
      problem(await service.call('DELETE', path, token, undefined, { 'if-match': tag }), 412, 'ERR_PRECONDITION_FAILED');
    }
    problem(await service.call('PATCH', path, token, { content: 'x' }, { 'if-match': '"1", "2"' }), 400, 'ERR_REQUEST_INVALID');
    expect((await service.call('GET', path, token)).body.content).to.equal('The kettle holds two litres.');
    const gone = await service.call('DELETE', path, token, undefined, { 'if-match': '"2"' });
    expect([gone.status, gone.body.forgotten]).to.deep.equal([200, 1]);
    problem(await service.call('GET', path, token, undefined, { 'if-none-match': '"2"' }), 404, 'ERR_MEMORY_NOT_FOUND');
  });

  it('lets one of many simultaneous writers with the same version through', async () => {
    const path = `/v1/memories/${await write('The counter stands at 0.')}`;
    const tries = Array.from({ length: 6 }, (_, i) =>
      service.call('PATCH', path, token, { content: `The counter stands at ${i + 1}.` }, { 'if-match': '"1"' }),
    );
    const answers = await Promise.all(tries);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    answers.filter(({ status }) => status !== 200).forEach((answer) => problem(answer, 412, 'ERR_PRECONDITION_FAILED'));
    const { body } = await service.call('GET', `${path}/history`, token);
    expect(body.versions.map((v: { version: number }) => v.version)).to.deep.equal([2, 1]);
  });

  it('answers a write that waits when its vectors are in place', async () => {
    const { body } = await service.call('POST', '/v1/memories', token, { content: 'The bell rings at noon.', wait: true });
    expect(body.results[0]).to.include({ outcome: 'stored', settled: true });
    const read = await service.call('GET', `/v1/memories/${body.results[0].memory_id}`, token);
    expect(read.body.settled).to.equal(true);
    const found = await service.call('POST', '/v1/memories/search', token, { query: 'The bell rings at noon', explain: true });
    const vector = found.body.hits[0].explain.signals.find((signal: { signal: string }) => signal.signal === 'vector');
    expect(vector.contribution).to.be.greaterThan(0.2);
  });

  it('answers a hundred items in order, as stored', async () => {
    const items = Array.from({ length: 100 }, (_, i) => ({ content: `Shelf ${i} holds jar ${i * 7}.`, tags: ['shelf'] }));
    const { status, body } = await service.call('POST', '/v1/memories', token, { items });
    expect(status).to.equal(200);
    expect(new Set(body.results.map((r: { memory_id: string }) => r.memory_id)).size).to.equal(100);
    const listed = new Map<string, string>();
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Answer = await service.call('GET', `/v1/memories?tags=shelf&limit=40${cursor === '' ? '' : `&cursor=${cursor}`}`, token);
      for (const { memory_id: id, content } of page.body.items) listed.set(id, content);
      cursor = page.body.next_cursor;
    }
    expect(body.results.map((r: { memory_id: string }) => listed.get(r.memory_id))).to.deep.equal(items.map((item) => item.content));
  });

  it('names what is missing: token, scope, route, method, media type', async () => {
    const none = await service.call('GET', '/v1/memories', '');
    problem(none, 401, 'ERR_AUTH_MISSING');
    expect(none.headers.get('www-authenticate')).to.match(/^Bearer realm=/);
    const forged = await service.call('GET', '/v1/memories', `${token.slice(0, -8)}AAAAAAAA`);
    problem(forged, 401, 'ERR_AUTH_INVALID');
    expect(forged.headers.get('www-authenticate')).to.contain('error="invalid_token"');
    const reader = await service.mint({ scopes: ['memory:read'] });
    const refused = await service.call('POST', '/v1/memories', reader, { content: 'x' });
    problem(refused, 403, 'ERR_SCOPE_MISSING');
    expect(refused.headers.get('www-authenticate')).to.contain('scope="memory:write"');
    problem(await service.call('GET', '/v1/memory', token), 404, 'ERR_ROUTE_NOT_FOUND');
    const method = await service.call('PUT', `/v1/memories/${ABSENT}`, token, {});
    problem(method, 405, 'ERR_METHOD_NOT_ALLOWED');
    expect(method.headers.get('allow')?.split(', ')).to.include.members(['GET', 'PATCH', 'DELETE']);
    problem(
      await service.call('POST', '/v1/memories', token, 'content=x', { 'content-type': 'text/plain' }),
      415,
      'ERR_REQUEST_MEDIA_TYPE',
    );
  });

  it('keeps health open, and metrics and the API document behind their scopes', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body } = await service.call('GET', path, '');
      expect([status, body]).to.deep.equal([200, { status: 'ok' }]);
    }
    const reader = await service.mint({ scopes: ['memory:read'] });
    problem(await service.call('GET', '/metrics', ''), 401, 'ERR_AUTH_MISSING');
    problem(await service.call('GET', '/metrics', reader), 403, 'ERR_SCOPE_MISSING');
    const metrics = await service.call('GET', '/metrics', token);
    expect(metrics.status).to.equal(200);
    expect(metrics.headers.get('content-type')).to.match(/^text\/plain/);
    expect(metrics.body)
      .to.match(/memory_write/)
      .and.not.match(/alice|kettle/);
    problem(await service.call('GET', '/openapi.json', ''), 401, 'ERR_AUTH_MISSING');
    const { body } = await service.call('GET', '/openapi.json', reader);
    expect(body.openapi).to.match(/^3\.1/);
    expect(Object.keys(body.paths)).to.include.members([
      '/v1/memories',
      '/v1/memories/search',
      '/v1/memories/forget',
      '/v1/memories/{memory_id}',
      '/v1/memories/{memory_id}/history',
      '/mcp',
    ]);
  });

  it('answers the same to what is absent, another tenant’s, another person’s and already forgotten', async () => {
    const [foreign, other] = await Promise.all([service.mint({ tenant: 't2', sub: 'alice' }), service.mint({ sub: 'bob' })]);
    const made = async (by: string): Promise<string> =>
      (await service.call('POST', '/v1/memories', by, { content: 'Not yours.', admission: 'keep' })).body.results[0].memory_id;
    const forgotten = await write('Soon gone.');
    await service.call('DELETE', `/v1/memories/${forgotten}`, token);
    const ids = [ABSENT, await made(foreign), await made(other)];
    const bare = ({ status, body, headers }: Answer): object => {
      const { trace_id: _id, instance: _instance, ...rest } = body;
      const names = [...headers.keys()].filter((name) => name !== 'date');
      return { status, rest, names };
    };
    const calls: readonly ((id: string) => Promise<Answer>)[] = [
      (id) => service.call('GET', `/v1/memories/${id}`, token),
      (id) => service.call('GET', `/v1/memories/${id}?raw=true`, token),
      (id) => service.call('GET', `/v1/memories/${id}/history`, token),
      (id) => service.call('PATCH', `/v1/memories/${id}`, token, { content: 'mine' }),
      (id) => service.call('PATCH', `/v1/memories/${id}`, token, { content: 'mine' }, { 'if-match': '"1"' }),
      (id) => service.call('POST', '/v1/memories', token, { content: 'derived', source: { type: 'agent', parents: [id] } }),
    ];
    for (const [i, call] of calls.entries()) {
      const [absent, ...rest] = (await Promise.all([...ids, forgotten].map(call))).map(bare);
      expect(absent, `call ${i}`).to.include({ status: 404 });
      for (const answer of rest) expect(answer, `call ${i}`).to.deep.equal(absent);
    }
    // the owner of a forgotten one may forget it again; for all others deleting it is no different from deleting nothing
    const [absent, ...rest] = (await Promise.all(ids.map((id) => service.call('DELETE', `/v1/memories/${id}`, token)))).map(bare);
    expect(absent).to.include({ status: 404 });
    for (const answer of rest) expect(answer).to.deep.equal(absent);
    expect((await service.call('DELETE', `/v1/memories/${forgotten}`, token)).body.forgotten).to.equal(0);
  });

  it('keeps data, tokens and session through a restart', async () => {
    const id = await write('The vault survives restarts.');
    const { body } = await service.call('POST', '/v1/memories/forget', token, { filter: { tags: ['shelf'] }, dry_run: true });
    await service.restart();
    expect((await service.call('GET', `/v1/memories/${id}`, token)).body.content).to.equal('The vault survives restarts.');
    const done = await service.call('POST', '/v1/memories/forget', token, { plan: body.plan });
    expect(done.body.forgotten).to.equal(100);
  });
});

describe('rate limits on the composed service', function () {
  this.timeout(60_000);
  let service: HashedService;
  let policies: string;

  before(async () => {
    policies = mkdtempSync(join(tmpdir(), 'hindsight-policies-'));
    cpSync(new URL('../../policies', import.meta.url), policies, { recursive: true });
    const limits =
      'version: 1\nwindow_seconds: 60\nbuckets:\n  http: { principal: 40, tenant: 1000 }\n  default: { principal: 6, tenant: 1000 }\n';
    writeFileSync(join(policies, 'limits.yaml'), limits);
    service = await startHashedService({ POLICIES_DIR: policies });
  });
  after(async () => {
    await service.close();
    rmSync(policies, { recursive: true });
  });

  it('refuses with 429 and Retry-After over REST and with a readable result over MCP, counted together for one person', async () => {
    const token = await service.mint({ sub: 'hasty' });
    const search = (): Promise<Answer> => service.call('POST', '/v1/memories/search', token, { query: 'anything' });
    for (const left of [4, 2, 0]) {
      const { status, headers } = await search();
      expect([status, headers.get('ratelimit')?.split(';')[1]]).to.deep.equal([200, `r=${left}`]);
    }
    const refused = await search();
    expect(refused.status).to.equal(429);
    expect(refused.body.code).to.equal('ERR_RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    const mcp = mcpFrontEnd(service);
    try {
      const result = await mcp.call(token, 'memory_search', { query: 'anything' });
      expect(result.ok).to.equal(false);
      if (!result.ok) {
        expect(result.code).to.equal('ERR_RATE_LIMITED');
        expect(result.problem.retry_after_seconds).to.be.within(1, 60);
      }
    } finally {
      await mcp.close();
    }
    const calm = await service.mint({ sub: 'calm' });
    expect((await service.call('POST', '/v1/memories/search', calm, { query: 'anything' })).status).to.equal(200);
  });
});
