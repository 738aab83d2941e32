import { expect } from 'chai';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import { admit, openUnscreened } from '../../src/domain/sealed.ts';
import { createClient } from '../../src/elastic/client.ts';
import { globalIndex, placementOf } from '../../src/elastic/placement.ts';
import { createEmbedQueue, DEAD_REST_MS, EMBED_TRIES_MAX, REEMBED_MARK } from '../../src/stores/embed-queue.ts';
import { createIdempotencyStore } from '../../src/stores/idempotency.ts';
import { createNamespaceStore } from '../../src/stores/namespaces.ts';
import { createReembedQueue } from '../../src/stores/reembed-queue.ts';
import { createAccessStats, type ClosableAccessStats } from '../../src/stores/stats.ts';
import { HindsightError } from '../../src/errors.ts';
import { memoryRecord, nextId } from '../support/records.ts';
import { bound, openStore, TEST_NOW, type TestStore } from '../support/store.ts';

async function unavailable(promise: Promise<unknown>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    expect(error).to.be.instanceOf(HindsightError);
    expect((error as HindsightError).code).to.equal('ERR_STORE_UNAVAILABLE');
    return;
  }
  throw new Error('expected ERR_STORE_UNAVAILABLE');
}

describe('stores on a real engine', function () {
  this.timeout(120_000);
  let store: TestStore;
  let now = TEST_NOW;
  let tenants = 0;
  const clock = (): number => now;
  const away = createClient({ url: 'http://127.0.0.1:1' });
  before(async () => {
    store = await openStore(undefined, clock);
  });
  beforeEach(() => {
    now = TEST_NOW;
  });
  after(async () => {
    await store.close();
    await away.close();
  });

  const newTenant = (): string => `tenant-${(tenants += 1)}`;
  const put = async (tenant: string, ...fields: Partial<MemoryRecord>[]): Promise<MemoryRecord[]> => {
    const records = fields.map((f) => memoryRecord({ tenant, ...f }));
    const outcomes = await store.index.createMany(records.map(admit));
    expect(outcomes).to.deep.equal(records.map(() => ({ outcome: 'created' })));
    await store.index.refresh(tenant);
    return records;
  };
  const head = async (tenant: string, memoryId: string): Promise<MemoryRecord | undefined> =>
    openUnscreened(await store.index.get(bound({ memoryIds: [memoryId] }, { tenant })))[0]?.record;

  describe('namespaces', () => {
    const open = () => createNamespaceStore({ client: store.client, prefix: store.prefix, clock });

    it('are made once: concurrent first writers in two processes all get the first one’s record', async () => {
      const stores = [open(), open()];
      const tenant = newTenant();
      const made = await Promise.all(Array.from({ length: 10 }, (_, i) => stores[i % 2]!.ensure(tenant, 'shared.team', `owner-${i}`)));
      for (const record of made) expect(record).to.deep.equal(made[0]);
      expect(made[0]).to.deep.include({ tenant, namespace: 'shared.team', generation: 1, scenario: 'assistant', collect: 'on' });
      expect(made[0]?.created_at).to.equal('2026-03-01T12:00:00.000Z');
      expect(await open().ensure(tenant, 'shared.team', 'late')).to.deep.equal(made[0]);
    });

    it('are told apart by tenant, and one never made is undefined', async () => {
      const names = open();
      const [a, b] = [newTenant(), newTenant()];
      await names.ensure(a, 'user.ann', 'o');
      expect(await names.get(b, 'user.ann')).to.equal(undefined);
      expect((await names.get(a, 'user.ann'))?.owner).to.equal('o');
    });

    it('come from the cache for 60 s, then are read again', async () => {
      const names = open();
      const tenant = newTenant();
      await names.ensure(tenant, 'user.ann', 'o');
      const index = globalIndex(store.prefix, 'namespaces');
      await store.client.indices.refresh({ index });
      const found = await store.client.search({ index, query: { term: { tenant } } });
      await store.client.update({ index, id: found.hits.hits[0]!._id!, doc: { collect: 'off' } });
      now += 59_000;
      expect((await names.get(tenant, 'user.ann'))?.collect).to.equal('on');
      now += 2_000;
      expect((await names.get(tenant, 'user.ann'))?.collect).to.equal('off');
    });

    it('fail as unavailable when Elasticsearch is away', async () => {
      const names = createNamespaceStore({ client: away, prefix: store.prefix, clock });
      await unavailable(names.get('t', 'user.ann'));
      await unavailable(names.ensure('t', 'user.ann', 'o'));
    });
  });

  describe('idempotency', () => {
    const open = () => createIdempotencyStore({ client: store.client, prefix: store.prefix, clock });

    it('gives exactly one of many concurrent callers the new claim; the others see it in flight', async () => {
      const stores = [open(), open()];
      const claims = await Promise.all(Array.from({ length: 12 }, (_, i) => stores[i % 2]!.claim('key-1', 'p', [`id-${i}`])));
      expect(claims.filter((c) => c.state === 'new')).to.have.length(1);
      expect(claims.filter((c) => c.state === 'in_flight')).to.have.length(11);
    });

    it('repeats ids and answer of a finished call, whatever JSON the answer is', async () => {
      const claims = open();
      for (const [i, answer] of [{ results: [{ a: 1, b: null }] }, [1, [2]], 'text', null].entries()) {
        const key = `key-2-${i}`;
        await claims.claim(key, 'p', ['first']);
        await claims.finish(key, answer);
        expect(await claims.claim(key, 'p', ['second'])).to.deep.equal({ state: 'repeat', memoryIds: ['first'], answer });
      }
    });

    it('answers mismatch for another payload, finished or not', async () => {
      const claims = open();
      await claims.claim('key-3', 'p', ['a']);
      expect(await claims.claim('key-3', 'other', ['b'])).to.deep.equal({ state: 'mismatch' });
      await claims.finish('key-3', {});
      expect(await claims.claim('key-3', 'other', ['b'])).to.deep.equal({ state: 'mismatch' });
    });

    it('hands a dead call’s ids to one repeater after 30 s, and the claim lives again', async () => {
      const claims = open();
      await claims.claim('key-4', 'p', ['a', 'b']);
      now += 29_999;
      expect(await claims.claim('key-4', 'p', ['c'])).to.deep.equal({ state: 'in_flight' });
      now += 1;
      const again = await Promise.all(Array.from({ length: 6 }, () => claims.claim('key-4', 'p', ['c'])));
      expect(again.filter((c) => c.state === 'repeat')).to.deep.equal([{ state: 'repeat', memoryIds: ['a', 'b'], answer: undefined }]);
      expect(again.filter((c) => c.state === 'in_flight')).to.have.length(5);
    });

    it('hands a failed call’s ids on as soon as it is released, to one repeater', async () => {
      const [mine, other] = [open(), open()];
      await mine.claim('key-5', 'p', ['a']);
      expect(await other.claim('key-5', 'p', ['b'])).to.deep.equal({ state: 'in_flight' });
      await mine.release('key-5');
      const again = await Promise.all(Array.from({ length: 6 }, () => other.claim('key-5', 'p', ['b'])));
      expect(again.filter((c) => c.state === 'repeat')).to.deep.equal([{ state: 'repeat', memoryIds: ['a'], answer: undefined }]);
      expect(again.filter((c) => c.state === 'in_flight')).to.have.length(5);
    });

    it('leaves the key of a withdrawn claim free at once, for another payload too', async () => {
      const [mine, other] = [open(), open()];
      await mine.claim('key-6', 'p', ['a']);
      await mine.withdraw('key-6');
      expect(await other.claim('key-6', 'corrected', ['b'])).to.deep.equal({ state: 'new', memoryIds: ['b'] });
      await mine.withdraw('key-6');
      expect(await mine.claim('key-6', 'corrected', ['c']), 'only the holder withdraws').to.deep.equal({ state: 'in_flight' });
    });

    it('counts a key as new after 24 h, unswept, for exactly one of those who use it again', async () => {
      const claims = open();
      await claims.claim('key-7', 'p', ['a']);
      now += 3_600_000;
      await claims.finish('key-7', { results: [] });
      now += 86_399_999;
      expect(await claims.claim('key-7', 'p', ['b'])).to.deep.equal({ state: 'repeat', memoryIds: ['a'], answer: { results: [] } });
      expect(await claims.claim('key-7', 'other', ['b'])).to.deep.equal({ state: 'mismatch' });
      now += 1;
      const again = await Promise.all(Array.from({ length: 6 }, (_, i) => claims.claim('key-7', 'other', [`c-${i}`])));
      expect(again.filter((c) => c.state === 'new')).to.have.length(1);
      expect(again.filter((c) => c.state === 'in_flight')).to.have.length(5);
    });

    it('sweeps what has expired, in batches, and nothing else', async () => {
      const claims = open();
      const index = globalIndex(store.prefix, 'idempotency');
      for (let i = 0; i < 5; i += 1) await claims.claim(`sweep-old-${i}`, 'p', ['a']);
      await claims.release('sweep-old-0');
      now += 60_000;
      await claims.claim('sweep-new', 'p', ['a']);
      now += 86_400_000 - 1;
      // renewed after the search index last saw it
      await store.client.indices.refresh({ index });
      expect(await claims.claim('sweep-old-4', 'p', ['b'])).to.deep.equal({ state: 'new', memoryIds: ['b'] });
      let batches = 0;
      while ((await claims.sweep(2)) > 0) batches += 1;
      expect(batches).to.be.at.least(2);
      const kept = await Promise.all(
        ['sweep-old-0', 'sweep-old-1', 'sweep-old-2', 'sweep-old-3', 'sweep-old-4', 'sweep-new'].map((id) =>
          store.client.exists({ index, id }),
        ),
      );
      expect(kept).to.deep.equal([false, false, false, false, true, true]);
    });

    it('ends a sweep with an error where the index takes no deletes, so that it is not asked again at once', async () => {
      const claims = open();
      const index = globalIndex(store.prefix, 'idempotency');
      await claims.claim('sweep-blocked', 'p', ['a']);
      now += 86_400_001;
      await store.client.indices.refresh({ index });
      await store.client.indices.putSettings({ index, settings: { 'index.blocks.write': true } });
      try {
        const outcome = await claims.sweep(10).catch((error: unknown) => (error as { readonly code: string }).code);
        expect(outcome).to.match(/^ERR_STORE_/);
      } finally {
        await store.client.indices.putSettings({ index, settings: { 'index.blocks.write': false } });
      }
      expect(await claims.sweep(10)).to.be.at.least(1);
    });

    it('fails as unavailable when Elasticsearch is away', async () => {
      const claims = createIdempotencyStore({ client: away, prefix: store.prefix, clock });
      await unavailable(claims.claim('k', 'p', []));
      await unavailable(claims.finish('k', {}));
      await unavailable(claims.sweep(10));
      await claims.withdraw('k');
      await claims.release('k'); // never throws: the caller has a failure of its own to tell
    });
  });

  describe('embed queue', () => {
    const spaces = (): readonly string[] => ['zh', 'en'];
    const open = () => createEmbedQueue({ client: store.client, prefix: store.prefix, clock, spaces });
    const due = { spaces_due: ['zh'] };
    const iso = (ms: number): string => new Date(now + ms).toISOString();
    const dead = { ...due, embed_tries: EMBED_TRIES_MAX, lease_until: iso(-1_000) };
    const dueOf = async (tenant: string): Promise<number> => (await open().dueTenants()).find((t) => t.tenant === tenant)?.count ?? 0;

    it('names tenants with claimable records and counts them; settled, dead and leased ones are not among them', async () => {
      const tenant = newTenant();
      await put(
        tenant,
        due,
        { ...due, embed_tries: EMBED_TRIES_MAX - 1 },
        dead,
        { spaces_due: [] },
        {},
        { spaces_due: ['of_another_model'] },
        { ...due, lease_until: new Date(now + 1_000).toISOString() },
        { ...due, lease_until: new Date(now - 1_000).toISOString() },
      );
      expect(await dueOf(tenant)).to.equal(3);
      expect(await dueOf(newTenant())).to.equal(0);
    });

    it('counts what is due, given up and due elsewhere, of all tenants', async () => {
      const before = await open().depth();
      const failed = (embed_error: string) => ({ ...dead, embed_error });
      await put(newTenant(), due, failed('ERR_EMBEDDING_REJECTED'), failed('ERR_STORE_REJECTED'), failed('ERR_STORE_UNAVAILABLE'), dead);
      await put(newTenant(), due, { spaces_due: ['of_another_model'] }, {}, failed('ERR_EMBEDDING_UNAVAILABLE'));
      const { deadBy, ...depth } = await open().depth();
      expect(depth).to.deep.equal({ due: before.due + 2, dead: before.dead + 5, foreign: before.foreign + 1 });
      const more = Object.entries(deadBy).map(([reason, count]) => [reason, count - before.deadBy[reason as 'other']]);
      expect(Object.fromEntries(more)).to.deep.equal({ rejected: 1, unavailable: 1, store: 2, other: 1 });
    });

    it('gives a dead letter again a day after its last try', async () => {
      const tenant = newTenant();
      await put(tenant, { ...dead, lease_until: iso(-DEAD_REST_MS + 1) });
      expect(await dueOf(tenant)).to.equal(0);
      now += 2;
      expect(await dueOf(tenant)).to.equal(1);
      expect(await open().claim(tenant, { limit: 5, leaseMs: 1_000, by: 'w' })).to.have.length(1);
    });

    it('puts what was written before what reembedding made due and what failed before, oldest first in each', async () => {
      const tenant = newTenant();
      const at = (day: number) => ({ ...due, created_at: `2026-02-0${day}T00:00:00.000Z` });
      const marked = { lease_by: REEMBED_MARK, lease_until: iso(-1_000) };
      const records = await put(
        tenant,
        { ...at(1), ...marked },
        { ...at(2), ...dead, lease_until: iso(-DEAD_REST_MS - 1) },
        { ...at(3), ...marked },
        { ...at(5), embed_tries: 1, lease_by: 'w0', lease_until: iso(-1) },
        at(4),
      );
      const tasks = await open().claim(tenant, { limit: 5, leaseMs: 60_000, by: 'w' });
      const order = tasks.map((task) => records.findIndex((record) => record.memory_id === task.record.record.memory_id));
      expect(order).to.deep.equal([4, 3, 0, 1, 2]);
    });

    it('renews leases by position, and leaves out a record that moved', async () => {
      const tenant = newTenant();
      await put(tenant, due, due);
      const tasks = await open().claim(tenant, { limit: 2, leaseMs: 10_000, by: 'w1' });
      const [first, second] = tasks.map((task) => task.record);
      await store.index.patchMany(tenant, [{ memoryId: second!.record.memory_id, patch: { hit_count: 3 }, at: second!.at }]);
      now += 9_000;
      const moved = await open().renew(
        tenant,
        tasks.map((task) => task.record),
        10_000,
      );
      expect([...moved.keys()]).to.deep.equal([first!.record.memory_id]);
      expect((await head(tenant, first!.record.memory_id))?.lease_until).to.equal(iso(10_000));
      const patch = { vec_zh: [1, 0, 0, 0], spaces_due: [] };
      const at = moved.get(first!.record.memory_id)!;
      expect(await store.index.patchMany(tenant, [{ memoryId: first!.record.memory_id, patch, at }])).to.deep.equal(['replaced']);
    });

    it('leaves a record that cannot be changed aside for ten minutes, so that it takes nobody’s place', async () => {
      const tenant = newTenant();
      const [stuck, other] = await put(tenant, { ...due, created_at: '2026-02-01T00:00:00.000Z' }, due);
      // a field from a mapping that is no more: every update of the document is refused
      const index = placementOf(store.prefix, tenant).memory;
      await store.client.indices.putMapping({ index, dynamic: false });
      await store.client.update({ index, id: stuck!.memory_id, doc: { gone_field: 1 }, refresh: true });
      await store.client.indices.putMapping({ index, dynamic: 'strict' });
      const queue = open();
      const claim = async () => (await queue.claim(tenant, { limit: 1, leaseMs: 1_000, by: 'w' })).map((t) => t.record.record.memory_id);
      expect(await claim()).to.deep.equal([]);
      expect(await claim()).to.deep.equal([other!.memory_id]);
      now += 600_001;
      await store.index.refresh(tenant);
      expect(await claim(), 'asked again').to.deep.equal([]);
    });

    it('claims the oldest first, whole, at the position after the lease', async () => {
      const tenant = newTenant();
      const at = (hour: number) => ({ ...due, created_at: `2026-03-01T0${hour}:00:00.000Z`, vec_en: [1, 0, 0] });
      const [late, early] = await put(tenant, at(2), at(1), at(3));
      const tasks = await open().claim(tenant, { limit: 2, leaseMs: 60_000, by: 'w1' });
      expect(tasks.map((t) => t.record.record.memory_id)).to.deep.equal([early!.memory_id, late!.memory_id]);
      expect(tasks[0]?.record.record).to.deep.equal({ ...early, lease_until: '2026-03-01T12:01:00.000Z', lease_by: 'w1' });
      const outcomes = await store.index.patchMany(
        tenant,
        tasks.map(({ record }) => ({ memoryId: record.record.memory_id, patch: { vec_zh: [1, 0, 0, 0], spaces_due: [] }, at: record.at })),
      );
      expect(outcomes).to.deep.equal(['replaced', 'replaced']);
      await store.index.refresh(tenant);
      expect(await dueOf(tenant)).to.equal(1);
    });

    it('never gives one record to two workers, though both search before either lease shows', async () => {
      const tenant = newTenant();
      const records = await put(tenant, ...Array.from({ length: 40 }, () => due));
      const claims = await Promise.all(
        Array.from({ length: 4 }, (_, i) => open().claim(tenant, { limit: 40, leaseMs: 60_000, by: `w${i}` })),
      );
      const ids = claims.flat().map((task) => task.record.record.memory_id);
      expect(new Set(ids).size, 'a record was claimed twice').to.equal(ids.length);
      expect([...ids].sort()).to.deep.equal(records.map((r) => r.memory_id).sort());
      for (const [i, tasks] of claims.entries()) {
        for (const task of tasks) expect((await head(tenant, task.record.record.memory_id))?.lease_by).to.equal(`w${i}`);
      }
      expect(await open().claim(tenant, { limit: 40, leaseMs: 60_000, by: 'late' })).to.deep.equal([]);
    });

    it('gives a record again when the lease has run out', async () => {
      const tenant = newTenant();
      await put(tenant, due);
      await open().claim(tenant, { limit: 5, leaseMs: 10_000, by: 'dead' });
      await store.index.refresh(tenant);
      now += 9_999;
      expect(await open().claim(tenant, { limit: 5, leaseMs: 10_000, by: 'w' })).to.deep.equal([]);
      now += 2;
      const [task] = await open().claim(tenant, { limit: 5, leaseMs: 10_000, by: 'w' });
      expect(task?.record.record.lease_by).to.equal('w');
    });

    it('finds nothing for a tenant without an index, and fails as unavailable when Elasticsearch is away', async () => {
      expect(await open().claim(newTenant(), { limit: 5, leaseMs: 1_000, by: 'w' })).to.deep.equal([]);
      const queue = createEmbedQueue({ client: away, prefix: store.prefix, clock, spaces });
      await unavailable(queue.dueTenants());
      await unavailable(queue.claim('t', { limit: 1, leaseMs: 1, by: 'w' }));
      await unavailable(queue.depth());
    });
  });

  describe('reembed queue', () => {
    const open = (client = store.client) => createReembedQueue({ client, prefix: store.prefix, clock, spaces: () => ['zh', 'en'] });
    const wantedOf = async (tenant: string): Promise<number> => (await open().tenants()).find((t) => t.tenant === tenant)?.count ?? 0;
    const whole = { spaces_ready: ['zh', 'en'] };

    it('finds searchable records that lack a space or are due in others alone, page by page in the order of their ids', async () => {
      const tenant = newTenant();
      const records = await put(
        tenant,
        whole,
        {},
        { spaces_ready: ['zh'], spaces_due: ['en'] },
        { spaces_ready: ['zh'], title: 'half', embed_tries: 3, lease_until: '2026-03-01T11:00:00.000Z' },
        { ...whole, spaces_due: ['gone'] },
        { ...whole, spaces_due: ['gone', 'zh'] },
        { status: 'forgotten' },
        { status: 'candidate' },
        { status: 'superseded', spaces_due: ['zh'] },
        { status: 'archived' },
        { expires_at: '2026-03-01T11:59:00.000Z' },
        { expires_at: '2026-03-01T12:01:00.000Z' },
      );
      const wanted = [1, 3, 4, 8, 9, 11].map((i) => records[i]!.memory_id);
      expect(await wantedOf(tenant)).to.equal(6);
      const pages: string[][] = [];
      let after: string | undefined;
      do {
        const { candidates, next } = await open().page(tenant, { after, limit: 4 });
        pages.push(candidates.map(({ record }) => record.memory_id));
        after = next;
      } while (after !== undefined);
      expect(pages).to.deep.equal([wanted.slice(0, 4), wanted.slice(4)]);
    });

    it('gives what the decision needs without vectors, and the position to write the mark by', async () => {
      const tenant = newTenant();
      const [record] = await put(tenant, { vec_en: [1, 0, 0], spaces_ready: ['en'], title: 'Tea' });
      const { candidates } = await open().page(tenant, { after: undefined, limit: 5 });
      const { memory_id, title, content, updated_at, spaces_ready } = record!;
      expect(candidates.map((c) => c.record)).to.deep.equal([{ memory_id, title, content, updated_at, spaces_ready }]);
      const patch = { spaces_due: ['zh'], lease_by: REEMBED_MARK };
      expect(await store.index.patchMany(tenant, [{ memoryId: memory_id, patch, at: candidates[0]!.at }])).to.deep.equal(['replaced']);
      await store.index.refresh(tenant);
      expect(await wantedOf(tenant)).to.equal(0);
    });

    it('finds nothing for a tenant without an index, and fails as unavailable when Elasticsearch is away', async () => {
      expect(await open().page(newTenant(), { after: undefined, limit: 5 })).to.deep.equal({ candidates: [], next: undefined });
      await unavailable(open(away).tenants());
      await unavailable(open(away).page('t', { after: undefined, limit: 5 }));
    });
  });

  describe('access counters', () => {
    const opened: ClosableAccessStats[] = [];
    const open = (options: { flushIntervalMs?: number; client?: typeof away } = {}): ClosableAccessStats => {
      const stats = createAccessStats({ client: store.client, schema: store.schema, clock, flushIntervalMs: 3_600_000, ...options });
      opened.push(stats);
      return stats;
    };
    afterEach(async () => {
      for (const stats of opened.splice(0)) await stats.close().catch(() => undefined);
    });
    /** Undefined also while the sidecar is being made (404, then 503). */
    const counter = async (tenant: string, id: string): Promise<Record<string, unknown> | undefined> => {
      const found = await store.client.get({ index: placementOf(store.prefix, tenant).stats, id }, { ignore: [404, 503] });
      return found._source as Record<string, unknown> | undefined;
    };

    it('add up in the sidecar; the head moves only when the level does', async () => {
      const tenant = newTenant();
      const [record] = await put(tenant, { vec_zh: [1, 0, 0, 0] });
      const id = record!.memory_id;
      const stats = open();
      const seqNo = async () => (await store.client.get({ index: placementOf(store.prefix, tenant).memory, id }))._seq_no;
      const before = await seqNo();
      const steps: [number, number, number][] = [
        [1, 1, 1],
        [2, 1, 1],
        [3, 2, 2],
        [6, 2, 2],
        [7, 3, 3],
      ];
      let counted = 0;
      for (const [count, level, updates] of steps) {
        stats.record(tenant, Array<string>(count - counted).fill(id));
        counted = count;
        await stats.flush();
        expect((await head(tenant, id))?.access_level, `level at ${count}`).to.equal(level);
        expect((await seqNo())! - before!, `updates of the head at ${count}`).to.equal(updates);
      }
      expect(await counter(tenant, id)).to.deep.include({ access_count: 7, access_level: 3, last_access_day: '2026-03-01', tenant });
      expect(await head(tenant, id)).to.deep.equal({ ...record, access_level: 3, last_access_day: '2026-03-01' });
    });

    it('lose nothing when several processes flush the same memory at once', async () => {
      const tenant = newTenant();
      const [record] = await put(tenant, {});
      const all = Array.from({ length: 4 }, () => open());
      for (let round = 0; round < 3; round += 1) {
        for (const stats of all) stats.record(tenant, [record!.memory_id, record!.memory_id]);
        await Promise.all(all.map((stats) => stats.flush()));
      }
      expect((await counter(tenant, record!.memory_id))?.['access_count']).to.equal(24);
      expect((await head(tenant, record!.memory_id))?.access_level).to.equal(4);
    });

    it('are flushed by the timer, at 500 entries and at close', async () => {
      const tenant = newTenant();
      const seen = async (id: string): Promise<number> => {
        const deadline = Date.now() + 20_000;
        for (;;) {
          const found = await counter(tenant, id);
          if (found !== undefined) return Number(found['access_count']);
          if (Date.now() > deadline) return 0;
        }
      };
      const [a, b] = [nextId(), nextId()];
      open({ flushIntervalMs: 20 }).record(tenant, [a]);
      expect(await seen(a)).to.equal(1);
      open().record(tenant, [b, ...Array.from({ length: 499 }, nextId)]);
      expect(await seen(b)).to.equal(1);
      const last = open();
      const c = nextId();
      last.record(tenant, [c]);
      expect(await counter(tenant, c)).to.equal(undefined);
      await last.close();
      expect((await counter(tenant, c))?.['access_count']).to.equal(1);
    });

    it('do not bring back a memory that is gone', async () => {
      const tenant = newTenant();
      await put(tenant, {});
      const gone = nextId();
      const stats = open();
      stats.record(tenant, [gone]);
      await stats.flush();
      expect(await head(tenant, gone)).to.equal(undefined);
    });

    it('keep their counts while Elasticsearch is away', async () => {
      const tenant = newTenant();
      const [record] = await put(tenant, {});
      let broken = true;
      const flaky = new Proxy(store.client, {
        get: (target, key) => Reflect.get(broken ? away : target, key) as unknown,
      });
      const stats = open({ client: flaky });
      stats.record(tenant, [record!.memory_id]);
      await unavailable(stats.flush());
      stats.record(tenant, [record!.memory_id]);
      broken = false;
      await stats.flush();
      expect((await counter(tenant, record!.memory_id))?.['access_count']).to.equal(2);
    });
  });
});
