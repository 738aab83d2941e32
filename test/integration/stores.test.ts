import { expect } from 'chai';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import { admit, openUnscreened } from '../../src/domain/sealed.ts';
import { createClient } from '../../src/elastic/client.ts';
import { globalIndex, placementOf } from '../../src/elastic/placement.ts';
import { createEmbedQueue, EMBED_TRIES_MAX } from '../../src/stores/embed-queue.ts';
import { createIdempotencyStore } from '../../src/stores/idempotency.ts';
import { createNamespaceStore } from '../../src/stores/namespaces.ts';
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
    const open = () => createEmbedQueue({ client: store.client, prefix: store.prefix, clock });
    const due = { spaces_due: ['zh'] };
    const dueOf = async (tenant: string): Promise<number> => (await open().dueTenants()).find((t) => t.tenant === tenant)?.count ?? 0;

    it('names tenants with claimable records and counts them; settled, dead and leased ones are not among them', async () => {
      const tenant = newTenant();
      await put(
        tenant,
        due,
        { ...due, embed_tries: EMBED_TRIES_MAX - 1 },
        { ...due, embed_tries: EMBED_TRIES_MAX },
        { spaces_due: [] },
        {},
        { ...due, lease_until: new Date(now + 1_000).toISOString() },
        { ...due, lease_until: new Date(now - 1_000).toISOString() },
      );
      expect(await dueOf(tenant)).to.equal(3);
      expect(await dueOf(newTenant())).to.equal(0);
    });

    it('counts due and dead letters of all tenants', async () => {
      const before = await open().depth();
      await put(newTenant(), due, { ...due, embed_tries: EMBED_TRIES_MAX });
      await put(newTenant(), due, {});
      expect(await open().depth()).to.deep.equal({ due: before.due + 2, dead: before.dead + 1 });
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
      const queue = createEmbedQueue({ client: away, prefix: store.prefix, clock });
      await unavailable(queue.dueTenants());
      await unavailable(queue.claim('t', { limit: 1, leaseMs: 1, by: 'w' }));
      await unavailable(queue.depth());
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
