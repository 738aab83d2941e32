import { expect } from 'chai';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import type { RecordPatch } from '../../src/domain/ports.ts';
import type { SearchSpec } from '../../src/domain/ranking.ts';
import { admit, openUnscreened } from '../../src/domain/sealed.ts';
import { createClient } from '../../src/elastic/client.ts';
import { createMemoryIndex } from '../../src/elastic/memory-index.ts';
import { placementOf } from '../../src/elastic/placement.ts';
import type { Schema } from '../../src/elastic/schema.ts';
import { HindsightError } from '../../src/errors.ts';
import { loadProfiles } from '../../src/ranking/profile.ts';
import { memoryRecord, nextId } from '../support/records.ts';
import { bound, openStore, TEST_NOW, type TestScope, type TestStore } from '../support/store.ts';

describe('elastic/memory-index on a real engine', function () {
  this.timeout(120_000);
  let store: TestStore;
  let now = TEST_NOW;
  let tenants = 0;
  before(async () => {
    store = await openStore(undefined, () => now);
  });
  after(() => store.close());

  const newTenant = (): string => `tenant ${(tenants += 1)} / ü`;
  const put = async (tenant: string, ...fields: Partial<MemoryRecord>[]): Promise<MemoryRecord[]> => {
    const records = fields.map((f) => memoryRecord({ tenant, ...f }));
    const outcomes = await store.index.createMany(records.map(admit));
    expect(outcomes).to.deep.equal(records.map(() => ({ outcome: 'created' })));
    await store.index.refresh(tenant);
    return records;
  };
  const get = async (memoryIds: readonly string[], scope: TestScope) => openUnscreened(await store.index.get(bound({ memoryIds }, scope)));
  const count = async (scope: TestScope, filter = {}): Promise<number> =>
    openUnscreened(await store.index.list(bound({ filter, limit: 100, after: undefined }, scope))).records.length;
  const scanAll = async (tenant: string, pageSize: number): Promise<MemoryRecord[][]> => {
    const pages: MemoryRecord[][] = [];
    for await (const page of store.index.scan(bound({ filter: {}, pageSize }, { tenant }))) pages.push([...openUnscreened(page)]);
    return pages;
  };
  const failure = async (promise: Promise<unknown>): Promise<HindsightError> => {
    try {
      await promise;
    } catch (error) {
      expect(error).to.be.instanceOf(HindsightError);
      return error as HindsightError;
    }
    throw new Error('expected a failure');
  };

  describe('a tenant without an index', () => {
    it('reads as empty and is not made by reading', async () => {
      const tenant = newTenant();
      const scope = { tenant };
      expect(await get([nextId()], scope)).to.deep.equal([]);
      expect(openUnscreened(await store.index.list(bound({ filter: {}, limit: 5, after: undefined }, scope)))).to.deep.equal({
        records: [],
        next: undefined,
      });
      expect(await count(scope)).to.equal(0);
      expect(await scanAll(tenant, 10)).to.deep.equal([]);
      expect(openUnscreened(await store.index.versions(bound({ memoryId: nextId() }, scope)))).to.deep.equal([]);
      const held = await store.index.holdings(bound({ key: 'k' }, scope));
      expect([...held.languages]).to.deep.equal([]);
      expect(held.passages).to.equal(false);
      await store.index.refresh(tenant);
      expect(await store.client.indices.exists({ index: placementOf(store.prefix, tenant).memory })).to.equal(false);
    });

    it('is made once by two first writers, and both records are there', async () => {
      const tenant = newTenant();
      const records = [memoryRecord({ tenant }), memoryRecord({ tenant })];
      const outcomes = await Promise.all(records.map((record) => store.index.create(admit(record))));
      expect(outcomes).to.deep.equal([{ outcome: 'created' }, { outcome: 'created' }]);
      expect(
        await get(
          records.map((r) => r.memory_id),
          { tenant },
        ),
      ).to.have.length(2);
    });

    it('is made again when it was dropped behind the process', async () => {
      const tenant = newTenant();
      await put(tenant, {});
      await store.client.indices.delete({ index: placementOf(store.prefix, tenant).generation(1) });
      const record = memoryRecord({ tenant });
      expect(await store.index.create(admit(record))).to.deep.equal({ outcome: 'created' });
      expect(await get([record.memory_id], { tenant })).to.have.length(1);
    });
  });

  describe('creation', () => {
    it('stores a record whole, vectors and passages included, readable by id before any refresh', async () => {
      const tenant = newTenant();
      const record = memoryRecord({
        tenant,
        content: '安喜欢龙井茶 "quoted"\nnext line \u2028',
        tags: ['tea'],
        metadata: { deep: { n: 1.5, list: [1, 'a'] } },
        passages: [{ start: 0, end: 3, text: '安喜欢', vec_zh: [0.5, 0.5, 0.5, 0.5] }],
        vec_zh: [1, 0, 0, 0],
        vec_en: [0, 0.6, 0.8],
      });
      expect(await store.index.create(admit(record))).to.deep.equal({ outcome: 'created' });
      const [found] = await get([record.memory_id], { tenant });
      expect(found?.record).to.deep.equal(record);
      expect(found?.at).to.deep.equal({ seq_no: 0, primary_term: 1 });
    });

    it('answers exists for an id that is there and keeps the first record', async () => {
      const tenant = newTenant();
      const first = memoryRecord({ tenant, content: 'first' });
      await store.index.create(admit(first));
      expect(await store.index.create(admit({ ...first, content: 'second' }))).to.deep.equal({ outcome: 'exists' });
      expect((await get([first.memory_id], { tenant }))[0]?.record.content).to.equal('first');
    });

    it('answers a batch in order, storing the good records beside bad and known ones', async () => {
      const tenant = newTenant();
      const known = memoryRecord({ tenant });
      await store.index.create(admit(known));
      const good = memoryRecord({ tenant });
      const bad = { ...memoryRecord({ tenant }), not_in_the_mapping: 1 };
      const wrongDims = memoryRecord({ tenant, vec_zh: [1, 0] });
      const last = memoryRecord({ tenant });
      const outcomes = await store.index.createMany([good, bad, known, wrongDims, last].map(admit));
      expect(outcomes).to.deep.equal([
        { outcome: 'created' },
        { outcome: 'failed', reason: 'strict_dynamic_mapping_exception' },
        { outcome: 'exists' },
        { outcome: 'failed', reason: 'document_parsing_exception' },
        { outcome: 'created' },
      ]);
    });

    it('keeps the order of a batch that is sent in several pieces', async () => {
      const tenant = newTenant();
      const content = '茶'.repeat(30_000);
      const records = Array.from({ length: 400 }, (_, i) => memoryRecord({ tenant, content, turn: i }));
      expect(content.length * records.length).to.be.greaterThan(8 * 1024 * 1024);
      expect(await store.index.createMany([...records, records[399]!].map(admit))).to.deep.equal([
        ...records.map(() => ({ outcome: 'created' })),
        { outcome: 'exists' },
      ]);
      const found = await get([records[0]!.memory_id, records[399]!.memory_id], { tenant });
      expect(found.map((f) => f.record.turn)).to.deep.equal([0, 399]);
    });

    it('rejects a single record that the mapping refuses, without Elasticsearch text in the message', async () => {
      const error = await failure(store.index.create(admit({ ...memoryRecord({ tenant: newTenant() }), surprise: 'secret words' })));
      expect(error.code).to.equal('ERR_STORE_REJECTED');
      expect(error.message).to.equal('The store refused the operation');
      expect(String(error.cause)).not.to.include('secret');
    });
  });

  describe('reads', () => {
    it('get leaves missing ids out and keeps the order asked for', async () => {
      const tenant = newTenant();
      const [a, b] = await put(tenant, {}, {});
      const found = await get([b!.memory_id, nextId(), a!.memory_id], { tenant });
      expect(found.map((f) => f.record.memory_id)).to.deep.equal([b!.memory_id, a!.memory_id]);
    });

    it('list pages newest first, with ties by id, within namespaces, status and filter, without vectors', async () => {
      const tenant = newTenant();
      const at = (second: number) => ({ created_at: `2026-03-01T10:00:0${second}.000Z` });
      const records = await put(
        tenant,
        { ...at(1), vec_zh: [1, 0, 0, 0], passages: [{ start: 0, end: 1, text: 'p', vec_en: [1, 0, 0] }] },
        { ...at(3) },
        { ...at(3) },
        { ...at(2), namespace: 'user.bob' },
        { ...at(4), status: 'forgotten' },
        { ...at(5), kind: 'event' },
      );
      const ids = records.map((r) => r.memory_id);
      const seen: string[] = [];
      let after: readonly [number, string] | undefined;
      let pages = 0;
      do {
        const page = openUnscreened(await store.index.list(bound({ filter: {}, limit: 2, after }, { tenant, namespaces: ['user.ann'] })));
        seen.push(...page.records.map((r) => r.memory_id));
        after = page.next;
        pages += 1;
      } while (after !== undefined);
      expect(seen).to.deep.equal([ids[5], ids[2], ids[1], ids[0]]);
      expect(pages).to.equal(2);
      const events = openUnscreened(await store.index.list(bound({ filter: { kind: ['event'] }, limit: 9, after: undefined }, { tenant })));
      expect(events.records.map((r) => r.memory_id)).to.deep.equal([ids[5]]);
      const last = openUnscreened(await store.index.list(bound({ filter: {}, limit: 9, after: undefined }, { tenant }))).records.at(-1)!;
      expect(last).not.to.have.property('vec_zh');
      expect(last.passages).to.deep.equal([{ start: 0, end: 1, text: 'p' }]);
    });

    it('every filter field selects as the wire contract says', async () => {
      const tenant = newTenant();
      await put(
        tenant,
        {
          layer: 'episodic',
          kind: 'event',
          tags: ['a', 'b'],
          trust_tier: 0,
          origin: [{ type: 'web', principal: 'p', ts: '2026-03-01T10:00:00Z' }],
          owner: 'bob',
          subject: '李雷',
          topic: 'tea',
          task_type: 'tt',
          task_id: 'ti',
          session_id: 's1',
          created_at: '2026-02-01T00:00:00.000Z',
          occurred_at: '2026-01-15T00:00:00.000Z',
          metadata: { ticket: { id: 7 }, urgent: true, list: ['x', 'y'] },
        },
        { topic: 'other', created_at: '2026-02-02T00:00:00.000Z' },
      );
      const selecting = [
        { layer: ['episodic'] },
        { kind: ['event', 'rule'] },
        { tags: ['b', 'zzz'] },
        { trust: ['external'] },
        { source: ['web'] },
        { owner: 'bob' },
        { subject: '李雷' },
        { topic: 'tea' },
        { task_type: 'tt' },
        { task_id: 'ti' },
        { session_id: 's1' },
        { created: { lt: '2026-02-02T00:00:00Z' } },
        { created: { gte: '2026-01-31T19:00:00-05:00', lt: '2026-02-01T19:00:00-05:00' } },
        { occurred: { gte: '2026-01-15T00:00:00Z' } },
        { occurred: {} },
        { metadata: { 'ticket.id': 7 } },
        { metadata: { urgent: true, list: 'y' } },
      ];
      for (const filter of selecting) expect(await count({ tenant }, filter), JSON.stringify(filter)).to.equal(1);
      const nothing = [{ tags: [] }, { topic: 'te' }, { metadata: { 'ticket.id': 8 } }, { created: { lt: '2026-02-01T00:00:00Z' } }];
      for (const filter of nothing) expect(await count({ tenant }, filter), JSON.stringify(filter)).to.equal(0);
      expect(await count({ tenant })).to.equal(2);
    });

    it('scan walks everything once over a point in time, in pages, though records are added meanwhile', async () => {
      const tenant = newTenant();
      const records = await put(tenant, ...Array.from({ length: 23 }, () => ({})));
      const seen: string[] = [];
      let pages = 0;
      for await (const page of store.index.scan(bound({ filter: {}, pageSize: 10 }, { tenant }))) {
        seen.push(...openUnscreened(page).map((r) => r.memory_id));
        pages += 1;
        await put(tenant, {});
      }
      expect(pages).to.equal(3);
      expect([...seen].sort()).to.deep.equal(records.map((r) => r.memory_id).sort());
    });

    it('scan closes its point in time when the reader stops early', async () => {
      const tenant = newTenant();
      await put(tenant, ...Array.from({ length: 5 }, () => ({})));
      const index = placementOf(store.prefix, tenant).memory;
      const contexts = async (): Promise<number> =>
        (await store.client.indices.stats({ index, metric: 'search' }))._all.primaries?.search?.open_contexts ?? -1;
      for await (const page of store.index.scan(bound({ filter: {}, pageSize: 2 }, { tenant }))) {
        expect(openUnscreened(page)).to.have.length(2);
        expect(await contexts()).to.equal(1);
        break;
      }
      expect(await contexts()).to.equal(0);
    });
  });

  describe('search', () => {
    const profile = loadProfiles('policies/ranking').get('assistant')!;
    const spec = (fields: Partial<SearchSpec>): SearchSpec => ({
      query: 'green tea',
      vectors: [],
      filter: {},
      profile,
      topK: 5,
      askedAtMs: TEST_NOW,
      taskId: undefined,
      taskType: undefined,
      passages: false,
      ...fields,
    });
    const vector = (values: readonly number[]) => ({
      space: 'zh',
      field: 'vec_zh',
      vector: values,
      boost: 400,
      calibration: { offset: 0, scale: 1 },
    });
    const search = async (fields: Partial<SearchSpec>, scope: TestScope) =>
      openUnscreened(await store.index.search(bound(spec(fields), scope)));

    it('of a tenant without an index finds nothing', async () => {
      expect(await search({}, { tenant: newTenant() })).to.deep.equal({ hits: [], tookMs: 0 });
    });

    it('brings hits whole but for vectors and lexical fields, with the scores of the named clauses', async () => {
      const tenant = newTenant();
      const record = memoryRecord({
        tenant,
        content: 'Ann likes green tea',
        title: 'tea',
        tags: ['drink'],
        importance: 0.5,
        lex_uni: 'ann like green tea',
        vec_zh: [1, 0, 0, 0],
      });
      await put(tenant, record, { lex_uni: 'red wine' });
      const { hits } = await search({ vectors: [vector([1, 0, 0, 0])] }, { tenant });
      expect(hits).to.have.length(1);
      const [hit] = hits;
      expect(hit?.named['lex']).to.be.greaterThan(0);
      expect(hit?.score).to.be.greaterThan(hit?.named['lex'] ?? Infinity);
      const { record: found } = hit!;
      expect(found).to.include({ memory_id: record.memory_id, content: record.content, title: 'tea', importance: 0.5, trust_tier: 3 });
      expect(found.origin).to.deep.equal(record.origin);
      expect(Object.keys(found).filter((key) => /^(vec|lex)_/.test(key))).to.deep.equal([]);
    });

    it('names the passage that matched', async () => {
      const tenant = newTenant();
      const passages = [
        { start: 0, end: 5, text: 'first', vec_zh: [1, 0, 0, 0] },
        { start: 5, end: 11, text: 'second', vec_zh: [0, 1, 0, 0] },
      ];
      await put(tenant, { passages, vec_zh: [0, 0, 1, 0], spaces_ready: ['zh'] }, { vec_zh: [0, 0, 1, 0] });
      const { hits } = await search({ query: '龙井', vectors: [vector([0, 1, 0, 0])], passages: true }, { tenant });
      expect(hits[0]?.passage).to.equal('second');
      expect(hits[0]?.named['passage']).to.be.greaterThan(0);
      expect(hits[1]).not.to.have.property('passage');
    });

    it('stays inside scope and filter on the lexical and on the vector side', async () => {
      const tenant = newTenant();
      const both = { lex_uni: 'green tea', vec_zh: [1, 0, 0, 0] };
      const [mine] = await put(
        tenant,
        { ...both, kind: 'fact' },
        { ...both, kind: 'fact', namespace: 'user.bob' },
        { ...both, kind: 'fact', status: 'forgotten' },
        { ...both, kind: 'event' },
      );
      const fields = { vectors: [vector([1, 0, 0, 0])], filter: { kind: ['fact' as const] } };
      const { hits } = await search(fields, { tenant, namespaces: ['user.ann'] });
      expect(hits.map((hit) => hit.record.memory_id)).to.deep.equal([mine!.memory_id]);
    });
  });

  describe('updates', () => {
    it('replace succeeds at the read position and answers conflict at an older one', async () => {
      const tenant = newTenant();
      const [record] = await put(tenant, { tags: ['old'] });
      const [found] = await get([record!.memory_id], { tenant });
      const { tags: _tags, ...rest } = record!;
      const next = { ...rest, content: 'new', version: 2 };
      expect(await store.index.replace(admit(next), found!.at)).to.equal('replaced');
      expect(await store.index.replace(admit({ ...next, content: 'lost' }), found!.at)).to.equal('conflict');
      expect((await get([record!.memory_id], { tenant }))[0]?.record).to.deep.equal(next);
    });

    it('only one of many concurrent replacements of one position wins', async () => {
      const tenant = newTenant();
      const [record] = await put(tenant, {});
      const [found] = await get([record!.memory_id], { tenant });
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store.index.replace(admit({ ...record!, content: `c${i}` }), found!.at)),
      );
      expect(outcomes.filter((o) => o === 'replaced')).to.have.length(1);
      const [after] = await get([record!.memory_id], { tenant });
      expect(after?.record.content).to.equal(`c${outcomes.indexOf('replaced')}`);
    });

    it('patchMany changes the named fields only, keeps vectors, and answers in order', async () => {
      const tenant = newTenant();
      const [a, b] = await put(tenant, { vec_zh: [1, 0, 0, 0] }, {});
      const [atA, atB] = await get([a!.memory_id, b!.memory_id], { tenant });
      await store.index.replace(admit(b!), atB!.at);
      const outcomes = await store.index.patchMany(tenant, [
        { memoryId: a!.memory_id, patch: { access_level: 2, spaces_due: [] }, at: atA!.at },
        { memoryId: b!.memory_id, patch: { access_level: 3 }, at: atB!.at },
        { memoryId: nextId(), patch: { access_level: 4 }, at: atA!.at },
      ]);
      expect(outcomes).to.deep.equal(['replaced', 'conflict', 'missing']);
      const [afterA, afterB] = await get([a!.memory_id, b!.memory_id], { tenant });
      expect(afterA?.record).to.deep.equal({ ...a, access_level: 2, spaces_due: [] });
      expect(afterB?.record).not.to.have.property('access_level');
    });

    it('patchMany tells the refusal of one item apart from the others, which are written', async () => {
      const tenant = newTenant();
      const records = await put(tenant, {}, {}, {}, {});
      const at = await get(
        records.map((record) => record.memory_id),
        { tenant },
      );
      const patches: RecordPatch[] = [{ vec_zh: [1, 0, 0, 0] }, { vec_zh: [1, 0] }, { vec_unknown: [1] }, { vec_zh: [0, 1, 0, 0] }];
      const outcomes = await store.index.patchMany(
        tenant,
        patches.map((patch, i) => ({ memoryId: records[i]!.memory_id, patch, at: at[i]!.at })),
      );
      expect(outcomes).to.deep.equal(['replaced', 'refused', 'refused', 'replaced']);
      const [, refused] = await get([records[0]!.memory_id, records[1]!.memory_id], { tenant });
      expect(refused?.record).not.to.have.property('vec_zh');
      expect(refused?.at, 'its position stands').to.deep.equal(at[1]?.at);
    });
  });

  describe('versions', () => {
    it('keeps copies newest first, without the head, and a second save of a version changes nothing', async () => {
      const tenant = newTenant();
      const [head] = await put(tenant, { version: 4, content: 'v4' });
      const copy = (version: number, content = `v${version}`) => admit({ ...head!, version, content, vec_zh: [1, 0, 0, 0] });
      for (const version of [1, 2, 3]) await store.index.saveVersion(copy(version));
      await store.index.saveVersion(copy(2, 'changed'));
      await store.index.saveVersion(copy(4));
      const copies = openUnscreened(await store.index.versions(bound({ memoryId: head!.memory_id }, { tenant })));
      expect(copies.map((c) => c.content)).to.deep.equal(['v3', 'v2', 'v1']);
      expect(copies[0]).not.to.have.property('vec_zh');
    });
  });

  describe('holdings', () => {
    it('tells languages, passages and summaries of the namespaces in scope, and learns of writes at once', async () => {
      const tenant = newTenant();
      await put(tenant, { namespace: 'user.ann', language: 'en' }, { namespace: 'user.bob', language: 'zh' });
      const of = async (key: string, namespaces: readonly string[]) => {
        const held = await store.index.holdings(bound({ key }, { tenant, namespaces }));
        return [[...held.languages].sort().join(), held.passages, held.summaries];
      };
      expect(await of('ann', ['user.ann'])).to.deep.equal(['en', false, false]);
      expect(await of('both', ['user.ann', 'user.bob'])).to.deep.equal(['en,zh', false, false]);
      await put(tenant, { namespace: 'user.ann', language: 'mixed', passages: [{ start: 0, end: 1, text: 'a' }] });
      expect(await of('ann', ['user.ann'])).to.deep.equal(['en,mixed', true, false]);
      await put(tenant, { namespace: 'user.ann', language: 'en', summary: 'tea', lex_summary: 'tea' });
      expect(await of('ann', ['user.ann'])).to.deep.equal(['en,mixed', true, true]);
      expect(await of('bob', ['user.bob'])).to.deep.equal(['zh', false, false]);
    });

    it('answers from its cache for 60 s when another process writes, then asks again', async () => {
      const tenant = newTenant();
      await put(tenant, { language: 'en' });
      const languages = async () => [...(await store.index.holdings(bound({ key: 'k' }, { tenant }))).languages].sort();
      expect(await languages()).to.deep.equal(['en']);
      const elsewhere = memoryRecord({ tenant, language: 'zh' });
      await store.client.index({
        index: placementOf(store.prefix, tenant).memory,
        id: elsewhere.memory_id,
        document: elsewhere,
        refresh: true,
      });
      now += 59_000;
      expect(await languages()).to.deep.equal(['en']);
      now += 2_000;
      expect(await languages()).to.deep.equal(['en', 'zh']);
    });

    it('asks again once a refresh showed what another replica wrote', async () => {
      const tenant = newTenant();
      await put(tenant, { language: 'en' });
      const other = createMemoryIndex({ client: store.client, schema: store.schema, clock: () => now });
      const languages = async () => [...(await other.holdings(bound({ key: 'k' }, { tenant }))).languages].sort();
      expect(await languages()).to.deep.equal(['en']);
      await store.index.create(admit(memoryRecord({ tenant, language: 'zh', passages: [{ start: 0, end: 1, text: 'a' }] })));
      // what a search of that replica does when it finds the writer's dirty mark
      await other.refresh(tenant);
      expect(await languages()).to.deep.equal(['en', 'zh']);
      expect((await other.holdings(bound({ key: 'k' }, { tenant }))).passages).to.equal(true);
    });

    it('believes no "no" that was asked for before a write and answered after it', async () => {
      const tenant = newTenant();
      await put(tenant, { language: 'en' });
      let held: (() => void) | undefined;
      const slow = new Proxy(store.client, {
        get: (client, name) =>
          name !== 'msearch'
            ? (Reflect.get(client, name) as unknown)
            : async (...args: Parameters<typeof client.msearch>) => {
                const answer = await client.msearch(...args);
                if (held === undefined) await new Promise<void>((resolve) => (held = resolve));
                return answer;
              },
      });
      const index = createMemoryIndex({ client: slow, schema: store.schema, clock: () => now });
      const languages = async () => [...(await index.holdings(bound({ key: 'k' }, { tenant }))).languages].sort();
      const asked = languages();
      while (held === undefined) await new Promise((resolve) => setImmediate(resolve));
      await index.create(admit(memoryRecord({ tenant, language: 'zh' })));
      await store.index.refresh(tenant);
      held();
      expect(await asked).to.deep.equal(['en']);
      expect(await languages()).to.deep.equal(['en', 'zh']);
    });
  });

  describe('refresh', () => {
    it('shows each caller its own write, though many share one refresh', async () => {
      const tenant = newTenant();
      await put(tenant, {});
      await Promise.all(
        Array.from({ length: 30 }, async (_, i) => {
          const record = memoryRecord({ tenant, topic: `topic-${i}` });
          await store.index.create(admit(record));
          await store.index.refresh(tenant);
          expect(await count({ tenant }, { topic: `topic-${i}` }), `write ${i}`).to.equal(1);
        }),
      );
    });
  });

  describe('Elasticsearch away', () => {
    it('every call fails as unavailable, none answers empty', async () => {
      const client = createClient({ url: 'http://127.0.0.1:1' });
      const schema: Schema = { ...store.schema, ensureTenant: async () => undefined };
      const index = createMemoryIndex({ client, schema, clock: () => now });
      const record = memoryRecord();
      const at = { seq_no: 0, primary_term: 1 };
      const spec = {
        query: 'tea',
        vectors: [],
        filter: {},
        topK: 5,
        askedAtMs: now,
        taskId: undefined,
        taskType: undefined,
        passages: false,
      };
      const calls: Record<string, () => Promise<unknown>> = {
        create: () => index.create(admit(record)),
        createMany: () => index.createMany([admit(record)]),
        get: () => index.get(bound({ memoryIds: [record.memory_id] })),
        list: () => index.list(bound({ filter: {}, limit: 1, after: undefined })),
        search: () => index.search(bound({ ...spec, profile: loadProfiles('policies/ranking').get('assistant')! })),
        scan: async () => {
          for await (const page of index.scan(bound({ filter: {}, pageSize: 1 }))) expect(page).to.equal(undefined);
        },
        replace: () => index.replace(admit(record), at),
        patchMany: () => index.patchMany('acme', [{ memoryId: record.memory_id, patch: { access_level: 1 }, at }]),
        saveVersion: () => index.saveVersion(admit(record)),
        versions: () => index.versions(bound({ memoryId: record.memory_id })),
        refresh: () => index.refresh('acme'),
        holdings: () => index.holdings(bound({ key: 'k' })),
      };
      for (const [name, call] of Object.entries(calls)) {
        const error = await failure(call());
        expect(error.code, name).to.equal('ERR_STORE_UNAVAILABLE');
        expect(error.retryAfterSeconds, name).to.equal(1);
      }
      await client.close();
    });
  });
});
