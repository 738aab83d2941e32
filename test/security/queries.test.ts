/** guard.md scenarios Q1-Q5 against the composed service: text stays text, and nothing of the engine's language gets through. */
import { expect } from 'chai';
import { mcpFrontEnd, restFrontEnd, type FrontEnd } from '../support/scenario-front-ends.ts';
import { storedMappings, storedState } from '../support/scenario-stored.ts';
import { startRedis } from '../support/redis-server.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

/** Q1: each would reach beyond its words if it were parsed. */
const QUERIES: readonly string[] = [
  'namespace:user.victim',
  'namespace:user.victim OR content:*',
  '*:*',
  '*',
  '/.*/',
  '_exists_:content',
  'a" OR "b',
  '" OR namespace:"user.victim',
  'a~2 '.repeat(900),
  'content:(hidden AND treasure)',
  'hidden treasure^1000000',
  '{"match_all":{}}',
  '[* TO *]',
  '+hidden -nothing',
  'hidden && treasure || !nothing',
  `hidden'); DROP TABLE memories; --`,
  '${jndi:ldap://127.0.0.1/a}',
  '{{7*7}}',
  '\\',
  '\\u0000',
  'treasure\u202ehidden',
  '隐藏:宝藏*',
  '('.repeat(4_000),
  'OR AND NOT',
  '\u200b',
  '?!。，',
];

describe('queries (Q)', function () {
  this.timeout(120_000);
  let service: HashedService;
  let fronts: readonly FrontEnd[];
  let token: string;

  before(async () => {
    service = await startHashedService({ MCP_TOOLS: 'all' });
    fronts = [restFrontEnd(service), mcpFrontEnd(service)];
    token = await service.mint({ sub: 'asker' });
    const victim = await service.mint({ sub: 'victim' });
    await service.call('POST', '/v1/memories', victim, { content: 'The hidden treasure of the victim.', wait: true });
    await service.call('POST', '/v1/memories', token, { content: 'My own hidden note.', wait: true });
  });
  after(async () => {
    await Promise.all(fronts.map((front) => front.close()));
    await service.close();
  });

  const post = (path: string, body: unknown): Promise<Answer> => service.call('POST', path, token, body);
  const expectRefused = ({ status, body }: Answer, what: string): void => {
    expect(status, `${what}: ${JSON.stringify(body)}`).to.equal(400);
    expect(body.code, what).to.match(/^ERR_(REQUEST_INVALID|REQUEST_JSON|CURSOR_INVALID)$/);
    expect(JSON.stringify(body), what).not.to.match(/\bat .*\.ts\b|_exception|painless|Error:/);
  };

  it('Q1 reads every query as literal text: no error, nobody else’s memory', async () => {
    for (const query of QUERIES) {
      for (const front of fronts) {
        const result = await front.call(token, 'memory_search', { query, top_k: 20 });
        const what = `${front.name} ${query.slice(0, 40)}`;
        expect(result.ok, `${what}: ${JSON.stringify(result)}`).to.equal(true);
        if (!result.ok) continue;
        expect(result.output.degraded, what).to.deep.equal([]);
        for (const hit of result.output.hits) expect(hit.namespace, what).to.equal('user.asker');
      }
    }
    for (const front of fronts) {
      const result = await front.call(token, 'memory_search', { query: '('.repeat(10_000) });
      expect(!result.ok && result.code).to.equal('ERR_REQUEST_INVALID');
    }
  });

  it('Q1 finds text that looks like a query by that text', async () => {
    const content = 'Filter the log with namespace:t2 AND status:[500 TO 599] OR "a~2".';
    const id = (await post('/v1/memories', { content, wait: true })).body.results[0].memory_id;
    for (const front of fronts) {
      const result = await front.call(token, 'memory_search', { query: 'namespace:t2 AND status:[500 TO 599]' });
      expect(result.ok && result.output.hits[0]).to.include({ memory_id: id, content });
    }
  });

  it('Q2 refuses the engine’s own query language in every field that takes an object', async () => {
    const before = await storedState(service);
    const filters = [
      { tags: { wildcard: '*' } },
      { tags: [{ wildcard: '*' }] },
      { terms: { ns: { index: 'other', id: '1', path: 'x' } } },
      { tags: { index: 'other', id: '1', path: 'x' } },
      { script: { source: 'doc["tenant"].value' } },
      { query_string: { query: '*' } },
      { bool: { should: [{ match_all: {} }] } },
      { subject: { regexp: '.*' } },
      { created: { gte: 'now-1d' } },
      { created: { gte: '2026-01-01T00:00:00Z||/d' } },
      { created: { from: '2026-01-01T00:00:00Z' } },
      { metadata: { a: { gte: 1 } } },
      { status: ['active', '*'] },
      { status: 'quarantined' },
      { trust: [{ lt: 5 }] },
      { owner: ['a', 'b'] },
      { _id: 'x' },
      { namespace: 'user.victim' },
      { doc_type: 'edge' },
      [],
      'tags:*',
    ];
    for (const filter of filters) {
      const what = JSON.stringify(filter);
      expectRefused(await post('/v1/memories/search', { query: 'x', filter }), what);
      expectRefused(await post('/v1/memories/forget', { filter, dry_run: true }), what);
      for (const operation of ['memory_search', 'memory_list']) {
        const result = await fronts[1]!.call(token, operation, operation === 'memory_search' ? { query: 'x', filter } : { filter });
        expect(!result.ok && result.code, `${operation} ${what}`).to.equal('ERR_REQUEST_INVALID');
      }
    }
    for (const extra of [
      { script: 'x' },
      { script_fields: {} },
      { runtime_mappings: { x: { type: 'keyword' } } },
      { _source: true },
      { sort: '_script' },
      { size: -1 },
      { size: 1_000_000 },
      { from: 1_000_000_000 },
      { aggs: {} },
      { knn: {} },
      { pit: {} },
      { query: { match_all: {} } },
      { query: ['a'] },
      { top_k: -1 },
      { top_k: 0 },
      { top_k: 21 },
      { top_k: 1_000_000 },
      { top_k: 1.5 },
      { top_k: '5' },
      { explain: 'yes' },
      { asked_at: 'now' },
      { min_score: -0.1 },
      { profile: '../../etc/passwd' },
      { profile: 'no-such-profile' },
    ])
      expectRefused(await post('/v1/memories/search', { query: 'x', ...extra }), JSON.stringify(extra));
    for (const query of [
      'limit=-1',
      'limit=0',
      'limit=201',
      'limit=1e6',
      'limit=NaN',
      'limit=',
      'sort=_script',
      'from=1',
      'size=10',
      '_source=x',
      'cursor=abc',
      'tags[]=x',
      'filter[tags]=x',
      'created_gte=now',
    ])
      expectRefused(await service.call('GET', `/v1/memories?${query}`, token), query);
    expect(await storedState(service)).to.deep.equal(before);
  });

  it('Q2 treats a wildcard in an exact condition as the characters it is', async () => {
    for (const filter of [
      { tags: ['*'] },
      { subject: '*' },
      { session_id: '?*' },
      { owner: '*' },
      { metadata: { '*': '*' } },
      { task_type: '.*' },
    ]) {
      const { status, body } = await post('/v1/memories/search', { query: 'hidden note', filter });
      expect([status, body.hits], JSON.stringify(filter)).to.deep.equal([200, []]);
    }
  });

  it('Q3 keeps metadata keys from prototypes and from the mapping', async () => {
    const mappings = await storedMappings(service);
    const before = await storedState(service);
    for (const metadata of [
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"a":{"__proto__":1}}',
      '{"a.b.c":1}',
      '{"":1}',
      '{"a":{"b":{"c":{"d":1}}}}',
      '{"a\\u0000b":1}',
      '{"a":"\\ud800"}',
      '[]',
      '"text"',
      JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a.b.c${i}`, i]))),
      JSON.stringify(Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, i]))),
      JSON.stringify({ long: 'x'.repeat(9_000) }),
    ])
      expectRefused(await post('/v1/memories', `{"content":"x","metadata":${metadata}}`), metadata.slice(0, 60));
    expect(await storedState(service)).to.deep.equal(before);
    const id = (await post('/v1/memories', { content: 'Patched metadata.' })).body.results[0].memory_id;
    for (const patch of ['{"__proto__":{"polluted":1}}', '{"a.b":1}', '{"a":{"b":{"c":{"d":1}}}}'])
      expectRefused(await service.call('PATCH', `/v1/memories/${id}`, token, `{"metadata":${patch}}`), patch);
    for (const metadata of [
      { _id: 'x', $ne: null, value: 1 },
      { value: 'text' },
      { value: { deep: true } },
      { value: [1, 'a', { b: 2 }] },
      { type: 'keyword', index: 'other' },
    ]) {
      const { status, body } = await post('/v1/memories', { content: `Odd metadata ${JSON.stringify(metadata)}.`, metadata });
      expect([status, body.results[0].outcome], JSON.stringify(body)).to.deep.equal([200, 'stored']);
      expect((await service.call('GET', `/v1/memories/${body.results[0].memory_id}`, token)).body.metadata).to.deep.equal(metadata);
    }
    // an index that is only made now, for counts or traces of earlier calls, has its mapping from the templates
    const kept = JSON.parse(mappings) as [string, unknown][];
    const now = new Map(JSON.parse(await storedMappings(service)) as [string, unknown][]);
    for (const [index, mapping] of kept) expect(now.get(index), index).to.deep.equal(mapping);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('Q4 takes weights as bounded numbers of known signals and nothing else', async () => {
    for (const weights of [
      '{"vector":NaN}',
      '{"vector":Infinity}',
      '{"vector":-1}',
      '{"vector":-0.0001}',
      '{"vector":1e308}',
      '{"vector":1e400}',
      '{"vector":10.1}',
      '{"vector":"1"}',
      '{"vector":"doc[\'x\'].value"}',
      '{"vector":null}',
      '{"vector":[1]}',
      '{"vector":{"script":"x"}}',
      '{"no_such_signal":1}',
      '{"__proto__":1}',
      '{"Vector":1}',
      '[1]',
      '"vector"',
    ])
      expectRefused(await post('/v1/memories/search', `{"query":"x","weights":${weights}}`), weights);
    const { status, body } = await post('/v1/memories/search', {
      query: 'hidden note',
      weights: { vector: 0, lexical: 10, recency: 0 },
      explain: true,
    });
    expect(status).to.equal(200);
    for (const hit of body.hits) expect(hit.score).to.be.within(0, 1);
    const result = await fronts[1]!.call(token, 'memory_search', { query: 'x', weights: { vector: 1 } });
    expect(!result.ok && result.code).to.equal('ERR_REQUEST_INVALID');
  });

  it('Q5 keeps subjects apart in Redis whatever characters they are made of', async () => {
    const redis = await startRedis();
    const shared = await startHashedService({ REDIS_URL: redis.url });
    try {
      const subs = ['a', 'a:b', 'a:*', '*', 'a b', '{a}', 'a"b', "a'b", 'ａ', '王芳', 'dirty', 'a|b'];
      for (const sub of subs) {
        const by = await shared.mint({ sub });
        const content = `The word of ${sub}.`;
        const key = { 'idempotency-key': 'same:key*' };
        const first = await shared.call('POST', '/v1/memories', by, { content }, key);
        const again = await shared.call('POST', '/v1/memories', by, { content }, key);
        expect(again.body.results[0].memory_id, sub).to.equal(first.body.results[0].memory_id);
        expect(first.headers.get('ratelimit') ?? first.status, sub).not.to.equal(429);
        const { body } = await shared.call('POST', '/v1/memories/search', by, { query: 'The word of whom?', top_k: 20 });
        expect(
          body.hits.map((hit: { content: string }) => hit.content),
          sub,
        ).to.deep.equal([content]);
      }
    } finally {
      await shared.close();
      await redis.close();
    }
  });
});
