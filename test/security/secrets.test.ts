/** S1-S5 (guard.md) on the running service: what is secret is masked before anything keeps it, and no search, reader or log tells it. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from '../../src/elastic/client.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { heldOutSecrets, type SecretRow } from '../support/secret-rows.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const SCOPES = ['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:admin', 'memory:audit'];
/** A row of each kind and of each form; the values are long enough to stand nowhere by chance. */
const ROWS = heldOutSecrets(4_711).filter(({ spans, text }) => spans.some(({ start, end }) => end - start >= 8) && text.length < 2_000);
const CLEAN = heldOutSecrets(4_711).filter(({ spans }) => spans.length === 0);
const BATCH = 100;

const valuesOf = ({ text, spans }: SecretRow): readonly string[] =>
  spans.map(({ start, end }) => text.slice(start, end)).filter((value) => value.length >= 8);

describe('secrets and personal data (S)', function () {
  this.timeout(180_000);
  let service: HashedService;
  let redis: RedisServer;
  const log: string[] = [];
  let alice: string;
  let ids: readonly string[];
  const values = ROWS.flatMap(valuesOf);

  before(async () => {
    redis = await startRedis();
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench', REDIS_URL: redis.url, LOG_LEVEL: 'trace' }, systemClock, log);
    alice = await service.mint({ scopes: SCOPES });
    const stored: string[] = [];
    for (let from = 0; from < ROWS.length; from += BATCH) {
      const items = ROWS.slice(from, from + BATCH).map(({ text }) => ({
        content: text,
        title: text.slice(0, 100),
        summary: text.slice(0, 1_900),
        tags: [text.slice(0, 60)],
        metadata: { note: text.slice(0, 100) },
        admission: 'keep',
      }));
      const { status, body } = await service.call(
        'POST',
        '/v1/memories',
        alice,
        { items, wait: true },
        { 'idempotency-key': `s1-${from}` },
      );
      expect(status).to.equal(200);
      for (const { memory_id: id, outcome } of body.results) {
        expect(outcome).to.be.oneOf(['stored', 'pending', 'candidate', 'quarantined']);
        stored.push(id);
      }
    }
    ids = stored;
  });
  after(async () => {
    await service.close();
    await redis.close();
  });

  /** Those of the values that stand in the text, as they were written. */
  const leaked = (text: string, among: readonly string[] = values): readonly string[] =>
    among.filter((value) => text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1)));

  it('S1: the values stand in no answer: write, get, list, history, search with explain, export, stats', async () => {
    let answers = '';
    for (const id of ids)
      for (const path of [`/v1/memories/${id}`, `/v1/memories/${id}?raw=true`, `/v1/memories/${id}/history`])
        answers += JSON.stringify((await service.call('GET', path, alice)).body);
    answers += JSON.stringify((await service.call('GET', '/v1/memories?limit=200', alice)).body);
    // every fourth: a search each
    for (const row of ROWS.filter((_row, i) => i % 4 === 0)) {
      const { status, body } = await service.call('POST', '/v1/memories/search', alice, {
        query: row.text.slice(0, 3_000),
        top_k: 20,
        explain: true,
      });
      expect(status).to.equal(200);
      answers += JSON.stringify(body);
    }
    const exported = await service.call('GET', '/v1/export', alice);
    expect(exported.status).to.equal(200);
    answers += String(exported.body) + JSON.stringify((await service.call('GET', '/v1/stats', alice)).body);
    expect(answers).to.include('[masked:');
    expect(leaked(answers)).to.deep.equal([]);
  });

  it('S1: they stand in no document of any index, whatever it is for, nor in Redis, the embedder’s input, a log line or a metric', async () => {
    const client = createClient({ url: service.engineUrl });
    let documents = '';
    let after: unknown[] | undefined;
    do {
      const page = await client.search({
        index: `${service.prefix}-*`,
        size: 500,
        sort: ['_doc'],
        expand_wildcards: 'all',
        ...(after === undefined ? {} : { search_after: after as string[] }),
      });
      after = page.hits.hits.at(-1)?.sort;
      documents += JSON.stringify(page.hits.hits);
    } while (after !== undefined);
    await client.close();
    expect(documents).to.include('[masked:');
    expect(leaked(documents), 'Elasticsearch').to.deep.equal([]);

    const store = new Redis(redis.url);
    let kept = '';
    for (const key of await store.keys('*')) kept += `${key} ${(await store.dump(key).catch(() => null)) ?? ''}`;
    await store.quit();
    expect(leaked(kept), 'Redis').to.deep.equal([]);

    expect(service.embeddings.requests.length).to.be.above(0);
    expect(leaked(service.embeddings.requests.flatMap(({ input }) => input).join('\n')), 'embedder').to.deep.equal([]);
    expect(log.length).to.be.above(10);
    expect(leaked(log.join('\n')), 'log').to.deep.equal([]);
    const { body: metrics } = await service.call('GET', '/metrics', alice);
    expect(leaked(String(metrics)), 'metrics').to.deep.equal([]);
  });

  it('S1: an error that is about a text does not repeat it', async () => {
    const token = values[0] ?? '';
    let answers = '';
    for (const body of [
      { content: `x ${token}`, nonsense: token },
      { content: token.repeat(2_000) },
      { content: 'x', title: token.padEnd(500, 'x') },
      { content: 'x', namespace: `user ${token}` },
      { content: 'x', occurred_at: token },
    ]) {
      const { status, body: problem } = await service.call('POST', '/v1/memories', alice, body);
      expect(status).to.equal(400);
      answers += JSON.stringify(problem);
    }
    expect(leaked(answers.replaceAll('"nonsense"', ''), [token])).to.deep.equal([]);
  });

  it('S1: an update, an import and a filter are masked as a write is', async () => {
    const token = valuesOf(ROWS.find(({ spans }) => spans[0]?.kind === 'api_key') ?? (ROWS[0] as SecretRow))[0] ?? '';
    const { body: made } = await service.call('POST', '/v1/memories', alice, { content: 'the uploader has a key' });
    const id = made.results[0].memory_id as string;
    const patch = { content: `the uploader has the key ${token}`, summary: token, tags: [token], metadata: { token } };
    expect((await service.call('PATCH', `/v1/memories/${id}`, alice, patch)).status).to.equal(200);
    const { body: imported } = await service.call('POST', '/v1/import', alice, {
      items: [{ content: `imported ${token}`, tags: [token] }],
    });
    expect(imported.results[0].masked).to.deep.equal(['api_key']);
    const { body: found } = await service.call('GET', `/v1/memories?tags=${encodeURIComponent(token)}`, alice);
    expect(JSON.stringify(found)).not.to.include(token);
    const { body: read } = await service.call('GET', `/v1/memories/${id}`, alice);
    expect(read.content).to.equal('the uploader has the key [masked:api_key]');
    expect(read.guard.verdict).to.equal('mask');
    expect(leaked(JSON.stringify(read), [token])).to.deep.equal([]);
  });

  it('S2: in two fields, in disguise and encoded they are masked alike', async () => {
    const token = `gh${'p_'}9876543210zyxwvutsrqZYXWVUTSRQ543210`;
    for (const item of [
      { title: `deploy ${token.slice(0, 18)}`, content: `${token.slice(18)} follows` },
      { content: [...token].join('\u200b') },
      { content: [...token].join(' ') },
      { content: token.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)) },
      { content: `{"config":{"auth":"${Buffer.from(token).toString('base64')}"}}` },
      { content: `https://example.com/cb?t=${[...token].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}` },
    ]) {
      const { body } = await service.call('POST', '/v1/memories', alice, { ...item, admission: 'keep' });
      expect(body.results[0].masked, JSON.stringify(item)).to.deep.equal(['api_key']);
      const { body: read } = await service.call('GET', `/v1/memories/${body.results[0].memory_id}`, alice);
      expect(JSON.stringify(read)).to.include('[masked:api_key]');
      expect(JSON.stringify(read)).not.to.include(token.slice(20));
    }
  });

  it('S3: its owner reads a masked value like anybody else, and gets it by reveal with memory:reveal alone', async () => {
    const { body } = await service.call('POST', '/v1/memories', alice, { content: '我的手机号是13912345678', visibility: 'shared' });
    const id = body.results[0].memory_id as string;
    expect((await service.call('GET', `/v1/memories/${id}`, alice)).body.content).to.equal('我的手机号是[masked:phone ..78]');
    expect((await service.call('POST', `/v1/memories/${id}/reveal`, alice, {})).status).to.equal(403);
    const revealer = await service.mint({ scopes: [...SCOPES, 'memory:reveal'] });
    const { status, body: revealed } = await service.call('POST', `/v1/memories/${id}/reveal`, revealer, {});
    expect([status, revealed.values]).to.deep.equal([200, [{ field: 'content', kind: 'phone', value: '13912345678' }]]);
    const agent = await service.mint({ actor: 'agent', scopes: [...SCOPES, 'memory:reveal'] });
    expect((await service.call('POST', `/v1/memories/${id}/reveal`, agent, {})).status).to.equal(403);
  });

  it('S3: whoever else reads a shared memory sees its masks, and each reveal is in the audit log, the refused one too, without the value', async () => {
    const item = { content: '王师傅的手机号是13912345679', visibility: 'shared', namespace: 'shared.plumbers' };
    const { body } = await service.call('POST', '/v1/memories', alice, item);
    const id = body.results[0].memory_id as string;
    const reader = await service.mint({ sub: 'bob', scopes: ['memory:read'] });
    const revealer = await service.mint({ sub: 'carol', scopes: ['memory:read', 'memory:reveal'] });
    for (const token of [reader, revealer])
      expect((await service.call('GET', `/v1/memories/${id}`, token)).body.content).to.include('王师傅的手机号是[masked:phone ..79]');
    expect((await service.call('POST', `/v1/memories/${id}/reveal`, reader, {})).status).to.equal(403);
    const { body: revealed } = await service.call('POST', `/v1/memories/${id}/reveal`, revealer, {});
    expect(revealed.values).to.deep.equal([{ field: 'content', kind: 'phone', value: '13912345679' }]);
    const { body: audit } = await service.call('GET', '/v1/audit?operation=memory_reveal&limit=20', alice);
    const told = JSON.stringify(audit);
    expect(told).not.to.include('13912345679');
    const records = audit.records as readonly { outcome: string; memory_ids?: readonly string[]; owner: string; reason?: string }[];
    const [opened] = records.filter((record) => record.memory_ids?.includes(id) === true && record.outcome === 'ok');
    const [refused] = records.filter(({ reason }) => reason === 'ERR_SCOPE_MISSING');
    expect(opened, told).to.include({ actor: 'user', scope: 'memory:reveal' });
    expect(refused?.outcome, told).to.equal('denied');
    expect(refused?.owner).not.to.equal(opened?.owner);
  });

  it('S4, S6: a guess is no closer to a stored value than any other of its kind', async () => {
    await service.call('POST', '/v1/memories', alice, {
      content: 'the alarm code word: the vault password is Granite#5180',
      namespace: 'shared.oracle',
      wait: true,
    });
    const ask = async (query: string): Promise<readonly { content: string; score: number }[]> => {
      const { body } = await service.call('POST', '/v1/memories/search', alice, { query, namespaces: ['shared.oracle'], top_k: 1 });
      return body.hits;
    };
    const right = 'the vault password is Granite#5180';
    const guesses = ['the vault password is Meadow#2931', 'the vault password is Orchid#7743'];
    await ask(right);
    const [first] = await ask(right);
    for (const guess of guesses) {
      const [other] = await ask(guess);
      expect(other?.content).to.equal(first?.content).and.to.include('[masked:password]');
      // what is left of a difference is the time between the two
      expect(Math.abs((other?.score ?? 1) - (first?.score ?? 0))).to.be.below(0.02);
    }
    // its last digits on their own find nothing that other digits do not
    const found = async (digits: string): Promise<readonly string[]> => (await ask(digits)).map(({ content }) => content);
    expect(await found('5180')).to.deep.equal(await found('2931'));
  });

  it('S4: equal values have equal marks in one tenant and other ones in the next', async () => {
    const bob = await service.mint({ tenant: 't2', sub: 'bob', scopes: SCOPES });
    const text = { content: 'reach me on 13900002222', subject: 'plumber' };
    for (const token of [alice, alice, bob]) await service.call('POST', '/v1/memories', token, { ...text, wait: true });
    const client = createClient({ url: service.engineUrl });
    const { hits } = await client.search<{ tenant: string; masked: string[] }>({
      index: `${service.prefix}-mem-*`,
      size: 10,
      query: { term: { subject: 'plumber' } },
    });
    await client.close();
    const marks = hits.hits.map((hit) => [hit._source?.tenant, hit._source?.masked.join()]);
    const of = (tenant: string): ReadonlySet<string | undefined> =>
      new Set(marks.filter(([owner]) => owner === tenant).map(([, mark]) => mark));
    expect([of('t1').size, of('t2').size]).to.deep.equal([1, 1]);
    expect([...of('t1')][0]).not.to.equal([...of('t2')][0]);
  });

  it('S5: look-alikes come back byte for byte', async () => {
    const items = CLEAN.map(({ text }) => ({ content: text, namespace: 'shared.lookalikes', admission: 'keep' }));
    const { body } = await service.call('POST', '/v1/memories', alice, { items });
    for (const [i, { memory_id: id, masked }] of body.results.entries()) {
      expect(masked, CLEAN[i]?.text).to.deep.equal([]);
      expect(id, CLEAN[i]?.text).to.be.a('string');
      const { body: read } = await service.call('GET', `/v1/memories/${id}?raw=true`, alice);
      expect(read.content).to.equal(CLEAN[i]?.text);
    }
  });
});
