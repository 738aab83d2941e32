import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { QueueDepth, ReembedQueue } from '../../../src/domain/ports.ts';
import { createEmbedJob } from '../../../src/jobs/embed.ts';
import { createReembedJob, FOREIGN_DUE_MS, type ReembedJobOptions } from '../../../src/jobs/reembed.ts';
import type { Job } from '../../../src/jobs/worker.ts';
import { REEMBED_MARK } from '../../../src/stores/embed-queue.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const SPACES = ['zh', 'en'];
const MINUTE_MS = 60_000;

/** All records that lack a space, as the store finds them, with their positions. */
const candidatesOf = (world: World): ReembedQueue => {
  const all = (): MemoryRecord[] =>
    [...world.index.heads.values()]
      .map(({ record }) => record)
      .filter(({ spaces_ready: ready = [], spaces_due: due = [] }) => {
        const foreign = due.length > 0 && !due.some((space) => SPACES.includes(space));
        return foreign || SPACES.some((space) => !ready.includes(space) && !due.includes(space));
      })
      .sort((a, b) => (a.memory_id < b.memory_id ? -1 : 1));
  return {
    tenants: async () => (all().length === 0 ? [] : [{ tenant: 'acme', count: all().length }]),
    page: async (_tenant, { after, limit }) => {
      const rest = all().filter((record) => after === undefined || record.memory_id > after);
      const page = rest.slice(0, limit);
      const ids = page.map((record) => record.memory_id);
      return {
        candidates: page.map((record, i) => ({ record, at: { seq_no: world.index.seqNoOf(ids[i] ?? ''), primary_term: 1 } })),
        next: rest.length < limit ? undefined : ids.at(-1),
      };
    },
  };
};

const jobOf = (world: World, more: Partial<ReembedJobOptions> = {}): Job =>
  createReembedJob({
    index: world.index,
    candidates: candidatesOf(world),
    queue: world.index.queue,
    embedder: world.embedder,
    clock: world.deps.clock,
    nudge: (tenant) => void world.nudged.push(tenant),
    ...more,
  });

const signal = new AbortController().signal;
const step = (job: Job) => job.run('acme', { nudged: true, signal });
const pass = async (job: Job): Promise<void> => {
  while ((await step(job)) === 'more');
};
const embed = async (world: World): Promise<void> => {
  const { index, guard, embedder } = world;
  const job = createEmbedJob({ index, queue: index.queue, guard, embedder, clock: world.deps.clock, by: 'worker-1' });
  while ((await step(job)) === 'more');
};
const plant = (world: World, fields: Partial<MemoryRecord>): string => {
  const record = memoryRecord(fields);
  world.index.plant(record);
  return record.memory_id;
};
const recordOf = (world: World, id: string): MemoryRecord => {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error('no such record');
  return found;
};
/** Settled under a model that is no more, as all records are after a change of EMBEDDING_MODEL. */
const OLD = { spaces_ready: ['old_384'], spaces_due: [], vec_old_384: [1, 0] } as const;

describe('reembed job', () => {
  it('makes due what a write would make due now and nothing else, and the embed job fills it', async () => {
    const world = createWorld();
    const english = plant(world, { ...OLD, content: 'Ann likes green tea' });
    const chinese = plant(world, { ...OLD, content: '安喜欢喝绿茶', language: 'zh' });
    const half = plant(world, { content: 'Bob likes black tea', spaces_ready: ['zh'], vec_zh: [1, 0] });
    const whole = plant(world, { content: 'Eve likes white tea', spaces_ready: ['zh', 'en'] });
    await pass(jobOf(world));
    const due = (id: string) => recordOf(world, id).spaces_due ?? [];
    expect([english, chinese, half, whole].map(due)).to.deep.equal([['zh', 'en'], ['zh'], ['en'], []]);
    expect(world.nudged).to.deep.equal(['acme']);
    await embed(world);
    expect(recordOf(world, english)).to.deep.include({ spaces_due: [], spaces_ready: ['old_384', 'zh', 'en'], vec_old_384: [1, 0] });
    expect(recordOf(world, english).vec_en).to.have.length(64);
    expect(recordOf(world, chinese)).to.deep.include({ spaces_due: [], spaces_ready: ['old_384', 'zh'] });
    expect(recordOf(world, half).vec_en).to.have.length(64);
    expect(recordOf(world, english).version, 'no new version').to.equal(1);
  });

  it('gets the passages of long records their vectors too', async () => {
    const world = createWorld();
    const content = '第一句话说的是茶叶的产地和季节。'.repeat(100);
    const { memory_id: id } = (await world.memory.write({ content }, world.call())).results[0] ?? {};
    const stored = recordOf(world, id ?? '');
    const passages = stored.passages?.map((passage) => ({ ...passage, vec_old_384: [0, 1] }));
    world.index.plant({ ...stored, ...OLD, ...(passages === undefined ? {} : { passages }) });
    await pass(jobOf(world));
    await embed(world);
    const after = recordOf(world, stored.memory_id).passages ?? [];
    expect(after.length).to.be.greaterThan(2);
    expect(after.every((passage) => passage.vec_zh?.length === 64 && passage.vec_old_384?.length === 2)).to.equal(true);
  });

  it('goes page by page, stops while the queue is long, and goes on where it stood', async () => {
    const world = createWorld();
    for (let i = 0; i < 450; i += 1) plant(world, { ...OLD, content: `memory ${i}` });
    const progress: object[] = [];
    const unchecked: number[] = [];
    let due = 0;
    const depth = async (): Promise<QueueDepth> => ({ ...(await world.index.queue.depth()), due });
    const job = jobOf(world, {
      queue: { depth },
      onProgress: (tenant, told) => void progress.push({ tenant, ...told }),
      onUnchecked: (records) => void unchecked.push(records),
    });
    expect(await job.due()).to.deep.equal(['acme']);
    expect(await step(job)).to.equal('more');
    due = 1_000;
    expect(await step(job), 'the embed job has enough to do').to.equal('idle');
    expect(await job.due()).to.deep.equal(['acme']);
    due = 999;
    expect(await step(job)).to.equal('more');
    expect(await step(job)).to.equal('idle');
    expect(progress).to.deep.equal([
      { tenant: 'acme', checked: 200, marked: 200, done: false },
      { tenant: 'acme', checked: 400, marked: 400, done: false },
      { tenant: 'acme', checked: 450, marked: 450, done: true },
    ]);
    expect(await job.due()).to.deep.equal([]);
    expect(unchecked).to.deep.equal([450, 250, 0]);
  });

  it('rests ten minutes after a pass, and twice as long each time it found nothing to do, six hours at most', async () => {
    const world = createWorld();
    plant(world, { content: '安喜欢喝绿茶', spaces_ready: ['zh'] });
    const job = jobOf(world);
    const begun = world.time.nowMs;
    const at: number[] = [];
    while (world.time.nowMs - begun < 24 * 60 * MINUTE_MS) {
      for (const _ of await job.due()) {
        await pass(job);
        at.push((world.time.nowMs - begun) / MINUTE_MS);
      }
      world.time.nowMs += MINUTE_MS;
    }
    const rests = at.slice(1).map((minute, i) => minute - (at[i] ?? 0));
    expect(rests.map((rest) => Math.round(rest / 10) * 10)).to.deep.equal([10, 20, 40, 80, 160, 320, 360, 360]);
    plant(world, { ...OLD, content: 'Ann likes tea' });
    while ((await job.due()).length === 0) world.time.nowMs += MINUTE_MS;
    await pass(job);
    const found = world.time.nowMs;
    while ((await job.due()).length === 0) world.time.nowMs += MINUTE_MS;
    expect(Math.round((world.time.nowMs - found) / MINUTE_MS), 'there may be more where that came from').to.be.at.most(20);
  });

  it('lets another model try what the one before gave up, and cuts no running lease short', async () => {
    const world = createWorld();
    const iso = (ms: number) => new Date(world.time.nowMs + ms).toISOString();
    const dead = plant(world, {
      content: 'a cursed text',
      spaces_due: ['old_384'],
      embed_tries: 5,
      embed_error: 'ERR_EMBEDDING_REJECTED',
      lease_until: iso(-1),
    });
    const held = plant(world, { content: 'a held text', spaces_due: ['old_384'], lease_by: 'other', lease_until: iso(30_000) });
    await pass(jobOf(world));
    const marked = { spaces_due: ['old_384', 'zh', 'en'], embed_tries: 0, embed_error: '', lease_by: REEMBED_MARK };
    expect(recordOf(world, dead)).to.deep.include(marked);
    expect(recordOf(world, held)).to.deep.include({ spaces_due: ['old_384', 'zh', 'en'], lease_by: 'other', lease_until: iso(30_000) });
    await embed(world);
    expect(recordOf(world, dead)).to.deep.include({ spaces_due: ['old_384'], spaces_ready: ['zh', 'en'] });
  });

  it('ends what is due in spaces of no model any more after a day, once the record has all it wants', async () => {
    const world = createWorld();
    const updated_at = new Date(world.time.nowMs).toISOString();
    const done = plant(world, { spaces_ready: ['zh', 'en'], spaces_due: ['old_384'], updated_at });
    const bare = plant(world, { spaces_due: ['old_384'], updated_at });
    const job = jobOf(world);
    await pass(job);
    expect(recordOf(world, done).spaces_due, 'another version may be filling it').to.deep.equal(['old_384']);
    await embed(world);
    world.time.nowMs += FOREIGN_DUE_MS + 1;
    await pass(jobOf(world));
    for (const id of [done, bare]) expect(recordOf(world, id).spaces_due).to.deep.equal([]);
    expect(recordOf(world, bare).spaces_ready).to.deep.equal(['zh', 'en']);
  });

  it('takes a page again when the store is away, and leaves a record that moved to the next pass', async () => {
    const world = createWorld();
    const [first, second] = [plant(world, { ...OLD, content: 'one text' }), plant(world, { ...OLD, content: 'two texts' })];
    const job = jobOf(world);
    world.index.refuses = () => 'away';
    expect((await rejection(step(job))).code).to.equal('ERR_STORE_UNAVAILABLE');
    world.index.refuses = (id) => (id === first ? 'conflict' : undefined);
    await pass(job);
    expect(recordOf(world, first).spaces_due).to.deep.equal([]);
    expect(recordOf(world, second).spaces_due).to.deep.equal(['zh', 'en']);
    world.index.refuses = undefined;
    world.time.nowMs += 10 * MINUTE_MS;
    expect(await job.due()).to.deep.equal(['acme']);
    await pass(job);
    expect(recordOf(world, first).spaces_due).to.deep.equal(['zh', 'en']);
  });
});
