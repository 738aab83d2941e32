import { expect } from 'chai';
import { systemClock } from '../../src/domain/clock.ts';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { acquireEngine } from '../support/engine.ts';
import { eventually } from '../support/redis-server.ts';
import { mcpFrontEnd } from '../support/scenario-front-ends.ts';
import { HASH_DIMS, startHashedService, type Answer, type HashedService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const ABSENT = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

describe('the embedding endpoint away', function () {
  let aheadMs = 0;
  this.timeout(60_000);
  let service: HashedService;
  let token: string;

  before(async () => {
    service = await startHashedService({}, () => systemClock() + aheadMs);
    token = await service.mint({ sub: 'embedder' });
  });
  after(() => service.close());

  const write = (content: string): Promise<Answer> => service.call('POST', '/v1/memories', token, { content });
  const search = (query: string): Promise<Answer> => service.call('POST', '/v1/memories/search', token, { query, explain: true });
  const settled = async (id: string): Promise<boolean> => (await service.call('GET', `/v1/memories/${id}`, token)).body.settled;

  it('acknowledges writes, finds them by words and says degraded; fills the vectors when it is back', async () => {
    const port = service.embeddings.port;
    await service.embeddings.stop();
    const written = await write('The lighthouse keeper collects barometers.');
    expect(written.status).to.equal(200);
    const [result] = written.body.results;
    expect(result).to.include({ outcome: 'stored', settled: false });

    const away = await search('What does the lighthouse keeper collect?');
    expect(away.status).to.equal(200);
    expect(away.body.degraded).to.deep.equal(['vector']);
    expect(away.body.hits.map((hit: { memory_id: string }) => hit.memory_id)).to.deep.equal([result.memory_id]);
    expect(await settled(result.memory_id)).to.equal(false);

    const back = await EmbeddingServer.start(hashBackend(HASH_DIMS), port);
    try {
      // the job pauses for 1, 2, 4 s after failures
      await eventually(() => settled(result.memory_id), 20_000);
      // the job marks what it wrote, so that the next search shows it
      await eventually(async () => {
        const again = await search('What does the lighthouse keeper collect?');
        expect(again.body.degraded).to.deep.equal([]);
        const [hit] = again.body.hits;
        expect(hit.memory_id).to.equal(result.memory_id);
        return hit.explain.signals.some(
          (signal: { signal: string; raw: number | null }) => signal.signal === 'vector' && signal.raw !== null,
        );
      });
    } finally {
      await back.stop();
    }
  });

  it('answers a write that waits with settled: false when ten seconds were not enough', async () => {
    let answered = false;
    const waiting = service.call('POST', '/v1/memories', token, { content: 'Nobody embeds this one.', wait: true });
    void waiting.then(() => (answered = true));
    await eventually(async () => (await service.call('GET', '/v1/memories', token)).body.items.length === 2);
    aheadMs += 9_000;
    expect(answered).to.equal(false);
    aheadMs += 1_000;
    const { status, body } = await waiting;
    expect(status).to.equal(200);
    expect(body.results[0]).to.include({ outcome: 'stored', settled: false });
  });
});

describe('Elasticsearch away', function () {
  this.timeout(60_000);
  let proxy: TcpProxy;
  let service: HashedService;
  let token: string;
  let known: string;
  let release: () => Promise<void>;

  before(async () => {
    const engine = await acquireEngine();
    release = () => engine.release();
    proxy = await startTcpProxy(engine.url);
    service = await startHashedService({ ELASTICSEARCH_URL: proxy.url });
    token = await service.mint({ sub: 'storm' });
    const { body } = await service.call('POST', '/v1/memories', token, { content: 'The anchor weighs two tons.', wait: true });
    known = body.results[0].memory_id;
  });
  afterEach(() => proxy.heal());
  after(async () => {
    await service.close();
    await proxy.close();
    await release();
  });

  const CALLS: Readonly<Record<string, () => Promise<Answer>>> = {
    search: () => service.call('POST', '/v1/memories/search', token, { query: 'How much does the anchor weigh?' }),
    list: () => service.call('GET', '/v1/memories', token),
    get: () => service.call('GET', `/v1/memories/${known}`, token),
    'get of an id never seen': () => service.call('GET', `/v1/memories/${ABSENT}`, token),
    history: () => service.call('GET', `/v1/memories/${known}/history`, token),
    write: () => service.call('POST', '/v1/memories', token, { content: 'The second anchor weighs one ton.' }),
    batch: () => service.call('POST', '/v1/memories', token, { items: [{ content: 'A third anchor.' }, { content: 'A fourth anchor.' }] }),
    'write with a key': () =>
      service.call('POST', '/v1/memories', token, { content: 'A fifth anchor.' }, { 'idempotency-key': 'anchor-5' }),
    update: () => service.call('PATCH', `/v1/memories/${known}`, token, { content: 'The anchor weighs three tons.' }),
    forget: () => service.call('DELETE', `/v1/memories/${known}`, token),
    'dry run': () => service.call('POST', '/v1/memories/forget', token, { filter: { kind: ['fact'] }, dry_run: true }),
  };

  /** A change meets the audit log first, once that has found out; a read never asks it. */
  const codesOf = (name: string): string[] =>
    /^(memory_)?(search|list|get|history)/.test(name) ? ['ERR_STORE_UNAVAILABLE'] : ['ERR_STORE_UNAVAILABLE', 'ERR_AUDIT_UNAVAILABLE'];
  const expectAway = (name: string, { status, headers, body }: Answer): void => {
    expect(status, `${name}: ${JSON.stringify(body)}`).to.equal(503);
    expect(Number(headers.get('retry-after')), name).to.be.at.least(1);
    expect(headers.get('content-type'), name).to.equal('application/problem+json');
    expect(body, name).to.include({ status: 503 });
    expect(body.code, name).to.be.oneOf(codesOf(name));
    expect(JSON.stringify(body), name).not.to.match(/ECONN|socket|elastic\/|127\.0\.0\.1|ConnectionError|_search/i);
  };

  const contents = async (): Promise<string[]> => {
    const { status, body } = await CALLS['list']!();
    expect(status).to.equal(200);
    return body.items.map((item: { content: string }) => item.content);
  };

  it('answers 503 with Retry-After to every call, never an empty list, and works again when it is back', async () => {
    proxy.fail('cut');
    for (const [name, call] of Object.entries(CALLS)) expectAway(name, await call());
    expect((await service.call('GET', '/readyz', '')).status).to.equal(503);
    expect((await service.call('GET', '/livez', '')).status).to.equal(200);
    proxy.heal();
    await eventually(async () => (await service.call('GET', '/readyz', '')).status === 200);
    expect(await contents()).to.deep.equal(['The anchor weighs two tons.']);
    const found = await CALLS['search']!();
    expect(found.body.hits.map((hit: { memory_id: string }) => hit.memory_id)).to.deep.equal([known]);
    let written: Answer | undefined;
    await eventually(async () => (written = await CALLS['write with a key']!()).status === 200);
    expect(written?.body.results[0].outcome).to.equal('stored');
    expect(await contents()).to.include('A fifth anchor.');
  });

  it('says so over MCP as a result that can be read, with when to try again', async () => {
    const mcp = mcpFrontEnd(service);
    try {
      await mcp.call(token, 'memory_search', { query: 'anchor' });
      proxy.fail('cut');
      for (const [operation, input] of [
        ['memory_search', { query: 'anchor' }],
        ['memory_write', { content: 'Over MCP nothing is stored either.' }],
        ['memory_get', { memory_id: known }],
      ] as const) {
        const result = await mcp.call(token, operation, input);
        expect(result.ok, operation).to.equal(false);
        if (result.ok) continue;
        expect(result.problem, operation).to.deep.include({ retry_after_seconds: 1 });
        expect(result.problem.code, operation).to.be.oneOf(codesOf(operation));
      }
    } finally {
      await mcp.close();
    }
  });

  it('answers 503 within a bounded time when it hangs', async () => {
    proxy.fail('hang');
    const startedMs = performance.now();
    const names = ['search', 'list', 'get', 'write'];
    const answers = await Promise.all(names.map((name) => CALLS[name]!()));
    answers.forEach((answer, i) => expectAway(names[i] ?? '', answer));
    expect(performance.now() - startedMs).to.be.lessThan(25_000);
  });

  it('stores once what is written again under its key after the first answer was lost', async () => {
    const content = 'The storm anchor is kept below deck.';
    const write = (): Promise<Answer> => service.call('POST', '/v1/memories', token, { content }, { 'idempotency-key': 'storm-anchor' });
    proxy.fail('lose-answers');
    const lost = await write();
    expectAway('write', lost);
    proxy.heal();
    let again = lost;
    // the audit log looks for the store again after a second
    await eventually(async () => (again = await write()).status === 200);
    expect(again.body.results[0].outcome).to.equal('stored');
    expect((await contents()).filter((text) => text === content)).to.have.length(1);
  });
});
