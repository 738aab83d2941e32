import { expect } from 'chai';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import { admit, openUnscreened } from '../../src/domain/sealed.ts';
import { createEmbedJob, type EmbedJobOptions } from '../../src/jobs/embed.ts';
import type { Job } from '../../src/jobs/worker.ts';
import type { VectorSpace } from '../../src/providers/embedding/provider.ts';
import { createEmbedQueue } from '../../src/stores/embed-queue.ts';
import { memoryRecord, testGuard } from '../support/records.ts';
import { bound, openStore, TEST_NOW, TEST_SPACES, type TestStore } from '../support/store.ts';

describe('embed job on a real engine, with records that the engine refuses and beside another version', function () {
  this.timeout(60_000);
  let store: TestStore;
  let now = TEST_NOW;
  let tenants = 0;
  const clock = (): number => now;
  before(async () => {
    store = await openStore(undefined, clock);
  });
  beforeEach(() => {
    now = TEST_NOW;
  });
  after(() => store.close());

  const spaces: readonly VectorSpace[] = TEST_SPACES.map((space) => ({ ...space, knnBoost: 1 }));
  const queueOf = (names: readonly string[]) =>
    createEmbedQueue({ client: store.client, prefix: store.prefix, clock, spaces: () => names });
  /** A version that knows these spaces; texts with `cursed` get vectors of a dimension that the index does not take. */
  const jobOf = (names: readonly string[], more: Partial<EmbedJobOptions> = {}): Job => {
    const known = spaces.filter((space) => names.includes(space.name));
    return createEmbedJob({
      index: store.index,
      queue: queueOf(names),
      guard: testGuard({ clock }),
      embedder: {
        spaces: known,
        embed: async (name, texts) =>
          texts.map((text) => {
            const dims = known.find((space) => space.name === name)?.dims ?? 0;
            return new Float32Array(text.includes('cursed') ? dims + 1 : dims).fill(0.5);
          }),
      },
      clock,
      by: names.join('+'),
      ...more,
    });
  };
  const put = async (contents: readonly string[], fields: Partial<MemoryRecord>): Promise<{ tenant: string; ids: string[] }> => {
    const tenant = `f-${(tenants += 1)}`;
    const records = contents.map((content) => memoryRecord({ tenant, content, ...fields }));
    await store.index.createMany(records.map(admit));
    return { tenant, ids: records.map((record) => record.memory_id) };
  };
  const heads = async (tenant: string, ids: readonly string[]): Promise<MemoryRecord[]> => {
    const found = openUnscreened(await store.index.get(bound({ memoryIds: ids }, { tenant })));
    return ids.map((id) => found.find(({ record }) => record.memory_id === id)?.record ?? memoryRecord());
  };
  const run = (job: Job, tenant: string) => job.run(tenant, { nudged: true, signal: new AbortController().signal });

  it('counts a try of the one record whose vectors are refused, and gives it up after five', async () => {
    const { tenant, ids } = await put(['a cursed text', 'one', 'two'], { spaces_due: ['zh'] });
    const dead: string[] = [];
    const job = jobOf(['zh'], { onDead: (_tenant, id) => void dead.push(id) });
    await run(job, tenant);
    const [bad, ...good] = await heads(tenant, ids);
    expect(bad).to.deep.include({ spaces_due: ['zh'], embed_tries: 1, embed_error: 'ERR_STORE_REJECTED' });
    for (const record of good) expect(record).to.deep.include({ spaces_due: [], spaces_ready: ['zh'] });
    for (let i = 0; i < 6; i += 1) {
      now += 600_000;
      await run(job, tenant);
    }
    expect((await heads(tenant, ids))[0]).to.include({ embed_tries: 5 });
    expect(dead).to.deep.equal([ids[0]]);
    await store.index.refresh(tenant);
    expect(await queueOf(['zh']).depth()).to.deep.equal({
      due: 0,
      dead: 1,
      deadBy: { rejected: 0, unavailable: 0, store: 1, other: 0 },
      foreign: 0,
    });
  });

  it('lets an old version fill what it knows, and leaves the rest to the new one', async () => {
    const { tenant, ids } = await put(['one', 'two'], { spaces_due: ['zh', 'en'] });
    await run(jobOf(['zh']), tenant);
    for (const record of await heads(tenant, ids)) {
      expect(record).to.deep.include({ spaces_due: ['en'], spaces_ready: ['zh'] });
      expect(record).not.to.have.property('vec_en');
    }
    await store.index.refresh(tenant);
    expect(
      (await queueOf(['zh']).dueTenants()).map((t) => t.tenant),
      'nothing it could do',
    ).not.to.include(tenant);
    await run(jobOf(['zh', 'en']), tenant);
    for (const record of await heads(tenant, ids)) {
      expect(record).to.deep.include({ spaces_due: [], spaces_ready: ['zh', 'en'] });
      expect(record.vec_en).to.have.length(3);
    }
  });
});
