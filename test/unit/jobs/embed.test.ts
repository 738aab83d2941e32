import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { WriteInput } from '../../../src/domain/wire/write.ts';
import { createEmbedJob, type EmbedJobOptions } from '../../../src/jobs/embed.ts';
import { textsToEmbed } from '../../../src/jobs/embed-text.ts';
import type { Job } from '../../../src/jobs/worker.ts';
import { EmbeddingRejected, EmbeddingUnavailable } from '../../../src/providers/embedding/provider.ts';
import { countTokens } from '../../../src/text/tokens.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { rejection } from '../../support/rejection.ts';

const jobOf = (world: World, more: Partial<EmbedJobOptions> = {}): Job =>
  createEmbedJob({
    index: world.index,
    queue: world.index.queue,
    guard: world.guard,
    embedder: world.embedder,
    clock: world.deps.clock,
    by: 'worker-1',
    probePauseMs: 0,
    ...more,
  });

const run = (job: Job, signal = new AbortController().signal) => job.run('acme', { nudged: true, signal });
const recordOf = (world: World, id: string): MemoryRecord => {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error('no such record');
  return found;
};
const write = async (world: World, item: WriteInput, by = principal()): Promise<string> =>
  (await world.memory.write(item, world.call(by))).results[0]?.memory_id ?? '';

/** The world's embedder on an endpoint that fails when one of the texts holds this word. */
const failingOn = (world: World, word: string): Pick<EmbedJobOptions, 'embedder'> => ({
  embedder: {
    ...world.embedder,
    embed: async (space, texts, kind, signal) => {
      if (texts.some((text) => text.includes(word))) throw new EmbeddingUnavailable('status 500');
      return world.embedder.embed(space, texts, kind, signal);
    },
  },
});

describe('embed job', () => {
  it('fills every due space and settles the record without making a new version', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'Ann likes green tea', title: 'Tea' });
    expect(await run(jobOf(world))).to.equal('idle');
    const record = recordOf(world, id);
    expect(record).to.deep.include({ spaces_due: [], spaces_ready: ['zh', 'en'], version: 1 });
    expect([record.vec_zh?.length, record.vec_en?.length]).to.deep.equal([64, 64]);
    expect(world.embedder.asked).to.deep.equal([
      { space: 'zh', texts: ['Tea\nAnn likes green tea'], kind: 'passage' },
      { space: 'en', texts: ['Tea\nAnn likes green tea'], kind: 'passage' },
    ]);
    expect(await world.memory.get({ memory_id: id }, world.call())).to.include({ settled: true });
    expect(await run(jobOf(world)), 'nothing is left').to.equal('idle');
    expect(world.embedder.asked).to.have.length(2);
  });

  it('makes one vector for each passage of a long content', async () => {
    const world = createWorld();
    const id = await write(world, { content: '第一句话说的是茶叶的产地和季节。'.repeat(100) });
    await run(jobOf(world));
    const { passages = [], vec_zh } = recordOf(world, id);
    expect(passages.length).to.be.greaterThan(2);
    expect(passages.every((p) => p.vec_zh?.length === 64 && p.text.length > 0)).to.equal(true);
    expect(vec_zh).to.have.length(64);
  });

  it('reads at most 100 tokens of the turn before and 400 of the content', () => {
    const long = 'word '.repeat(2000);
    const [own = ''] = textsToEmbed({ content: long, title: 'T' }, { content: long });
    const [context = '', title, content = ''] = own.split('\n');
    expect(title).to.equal('T');
    expect(countTokens(context)).to.be.within(90, 100);
    expect(countTokens(content)).to.be.within(390, 400);
  });

  it('embeds a turn with the one before it, links both, and stops doing so when that one is withdrawn', async () => {
    const world = createWorld();
    const turn = (n: number, content: string) => ({ content, session_id: 's', turn: n, admission: 'keep' as const });
    const first = await write(world, turn(1, 'Which tea?'));
    await run(jobOf(world));
    const second = await write(world, turn(2, 'Green'));
    const third = await write(world, turn(3, 'From Japan'));
    world.embedder.asked.length = 0;
    await run(jobOf(world));
    expect(world.embedder.asked.find((a) => a.space === 'en')?.texts).to.deep.equal(['Which tea?\nGreen', 'Green\nFrom Japan']);
    expect([first, second].map((id) => recordOf(world, id).next_turn_id)).to.deep.equal([second, third]);

    await world.memory.forget({ memory_id: first }, world.call());
    world.embedder.asked.length = 0;
    await run(jobOf(world));
    expect(world.embedder.asked.find((a) => a.space === 'en')?.texts).to.deep.equal(['Green']);
  });

  it('borrows no words that the record’s owner may not lend', async () => {
    const world = createWorld();
    const item = (n: number, content: string) => ({ content, session_id: 's', turn: n, admission: 'keep' as const });
    const first = await write(world, item(1, 'poison'));
    const second = await write(world, item(2, 'answer'));
    world.index.plant({ ...recordOf(world, first), trust_tier: 0 });
    await run(jobOf(world));
    expect(world.embedder.asked.find((a) => a.space === 'en')?.texts).to.include('answer');
    expect(recordOf(world, second).vec_en).to.have.length(64);
  });

  it('gives leases back and consumes no try while the model is away', async () => {
    const world = createWorld();
    const ids = [await write(world, { content: 'one' }), await write(world, { content: 'two' })];
    const failures: string[] = [];
    world.embedder.state = 'away';
    const job = jobOf(world, { onFailed: (reason) => void failures.push(reason) });
    expect((await rejection(run(job))).code).to.equal('ERR_EMBEDDING_UNAVAILABLE');
    for (const id of ids) expect(recordOf(world, id)).not.to.have.property('embed_tries');
    expect(failures).to.deep.equal(['unavailable']);
    world.embedder.state = 'up';
    await run(job);
    expect(ids.map((id) => recordOf(world, id).spaces_due)).to.deep.equal([[], []]);
  });

  it('counts a refused text against its own record alone, and gives it up after five tries', async () => {
    const world = createWorld();
    const bad = await write(world, { content: 'a cursed text' });
    const good = await write(world, { content: 'a fine text' });
    const dead: string[] = [];
    world.embedder.state = { refuses: 'cursed' };
    const job = jobOf(world, { onDead: (_tenant, id) => void dead.push(id) });
    await run(job);
    expect(recordOf(world, good)).to.deep.include({ spaces_due: [], spaces_ready: ['zh', 'en'] });
    expect(recordOf(world, bad)).to.deep.include({ spaces_due: ['zh', 'en'], embed_tries: 1, embed_error: 'ERR_EMBEDDING_REJECTED' });
    for (let i = 0; i < 10; i += 1) {
      world.time.nowMs += 60_000;
      await run(job);
    }
    expect(recordOf(world, bad)).to.include({ embed_tries: 5 });
    expect(dead).to.deep.equal([bad]);
    expect(await world.index.queue.depth()).to.deep.include({ due: 0, dead: 1 });
    const { hits } = await world.memory.search({ query: 'cursed text' }, world.call());
    expect(
      hits.map((h) => h.memory_id),
      'still found by its words',
    ).to.include(bad);
    world.embedder.state = 'up';
    await world.memory.update({ memory_id: bad, content: 'a blessed text' }, world.call());
    await run(job);
    expect(recordOf(world, bad).spaces_due, 'a corrected text starts anew').to.deep.equal([]);
  });

  it('blames a text that the endpoint fails on, alone or in a batch, and embeds everything else', async () => {
    const world = createWorld();
    const bad = await write(world, { content: 'a cursed text' });
    const failures: string[] = [];
    const job = jobOf(world, { ...failingOn(world, 'cursed'), onFailed: (reason) => void failures.push(reason) });
    await run(job);
    expect(recordOf(world, bad)).to.deep.include({ spaces_due: ['zh', 'en'], embed_tries: 1, embed_error: 'ERR_EMBEDDING_UNAVAILABLE' });
    expect(failures).to.deep.equal(['unavailable']);
    await world.memory.write({ items: Array.from({ length: 30 }, (_, i) => ({ content: `fine ${i}` })) }, world.call());
    for (let i = 0; i < 3; i += 1) {
      world.time.nowMs += 60_000;
      await run(job);
    }
    expect([...world.index.heads.values()].filter(({ record }) => record.spaces_due?.length === 0)).to.have.length(30);
    for (let i = 0; i < 10; i += 1) {
      world.time.nowMs += 300_000;
      await run(job);
    }
    expect(await world.index.queue.depth()).to.deep.include({ due: 0, dead: 1 });
  });

  it('gives a text that the endpoint failed on minutes before it is given up', async () => {
    const world = createWorld();
    const bad = await write(world, { content: 'a cursed text' });
    const job = jobOf(world, failingOn(world, 'cursed'));
    const begun = world.time.nowMs;
    while (recordOf(world, bad).embed_tries !== 5) {
      await run(job);
      world.time.nowMs += 10_000;
    }
    expect(world.time.nowMs - begun).to.be.within(300_000, 600_000);
  });

  it('settles the spaces it filled and no other: those of another version stay due', async () => {
    const world = createWorld();
    const [one, other] = [await write(world, { content: 'Ann likes green tea' }), await write(world, { content: 'Bob likes black tea' })];
    world.index.plant({ ...recordOf(world, one), spaces_due: ['newer_384', 'zh', 'en'] });
    world.index.plant({ ...recordOf(world, other), spaces_due: ['newer_384'] });
    await run(jobOf(world));
    expect(recordOf(world, one)).to.deep.include({ spaces_due: ['newer_384'], spaces_ready: ['zh', 'en'] });
    expect(recordOf(world, other), 'not even claimed').to.deep.include({ spaces_due: ['newer_384'] });
    expect(recordOf(world, other)).not.to.have.property('lease_by');
    expect(await world.index.queue.depth()).to.deep.include({ due: 0, foreign: 2 });
  });

  it('keeps what another version made due or filled while it was embedding', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'Ann likes green tea' });
    let once = true;
    world.index.before = (method) => {
      if (method !== 'patchMany' || !once) return;
      once = false;
      const now = recordOf(world, id);
      world.index.plant({ ...now, spaces_due: ['newer_384', ...(now.spaces_due ?? [])], spaces_ready: ['older_384'] });
    };
    await run(jobOf(world));
    expect(recordOf(world, id)).to.deep.include({ spaces_due: ['newer_384'], spaces_ready: ['older_384', 'zh', 'en'] });
    expect(recordOf(world, id).vec_en).to.have.length(64);
  });

  it('counts a try where the store refuses one record, keeps the others, and gives it up after five', async () => {
    const world = createWorld();
    const [bad, good] = [await write(world, { content: 'a text' }), await write(world, { content: 'another text' })];
    const dead: string[] = [];
    const reasons: string[] = [];
    world.index.refuses = (id, patch) => (id === bad && 'vec_zh' in patch ? 'refused' : undefined);
    const job = jobOf(world, { onDead: (_tenant, id) => void dead.push(id), onFailed: (reason) => void reasons.push(reason) });
    await run(job);
    expect(recordOf(world, good)).to.deep.include({ spaces_due: [], spaces_ready: ['zh', 'en'] });
    expect(recordOf(world, bad)).to.deep.include({ spaces_due: ['zh', 'en'], embed_tries: 1, embed_error: 'ERR_STORE_REJECTED' });
    world.embedder.asked.length = 0;
    await run(job);
    expect(world.embedder.asked, 'it rests before the next try').to.deep.equal([]);
    for (let i = 0; i < 10; i += 1) {
      world.time.nowMs += 600_000;
      await run(job);
    }
    expect(dead).to.deep.equal([bad]);
    expect(reasons).to.deep.equal(['store', 'store', 'store', 'store', 'store']);
    expect((await world.index.queue.depth()).deadBy).to.deep.include({ store: 1, rejected: 0 });
  });

  it('blames no record while the store takes nothing at all', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'a text' });
    world.index.refuses = () => 'away';
    expect((await rejection(run(jobOf(world)))).code).to.equal('ERR_STORE_UNAVAILABLE');
    expect(recordOf(world, id)).not.to.have.property('embed_tries');
  });

  it('tries a dead letter again once a day, and settles it when it works', async () => {
    const world = createWorld();
    const bad = await write(world, { content: 'a cursed text' });
    const dead: string[] = [];
    world.embedder.state = { refuses: 'cursed' };
    const job = jobOf(world, { onDead: (_tenant, id) => void dead.push(id) });
    const askedIn = async (hours: number): Promise<number> => {
      world.embedder.asked.length = 0;
      for (let i = 0; i < hours; i += 1) {
        world.time.nowMs += 3_600_000;
        await run(job);
      }
      return world.embedder.asked.filter(({ texts }) => texts.includes('a cursed text') && texts.length === 1).length;
    };
    await askedIn(6);
    expect(recordOf(world, bad)).to.include({ embed_tries: 5 });
    expect(await askedIn(60), 'twice, in two spaces').to.equal(4);
    expect(recordOf(world, bad), 'its tries stay at the limit').to.include({ embed_tries: 5 });
    expect(dead, 'told once').to.deep.equal([bad]);
    world.embedder.state = 'up';
    await askedIn(25);
    expect(recordOf(world, bad)).to.deep.include({ spaces_due: [], embed_tries: 0, embed_error: '' });
  });

  /** An endpoint that hangs on texts with this word until the call is given up, and takes a second of the clock for others. */
  const hangingOn = (world: World, word: string, hangMs: number): Pick<EmbedJobOptions, 'embedder'> => ({
    embedder: {
      ...world.embedder,
      embed: async (space, texts, kind, signal) => {
        const hangs = texts.some((text) => text.includes(word));
        world.time.nowMs += hangs ? hangMs : 1_000;
        if (hangs) throw new EmbeddingUnavailable('no answer');
        return world.embedder.embed(space, texts, kind, signal);
      },
    },
  });

  it('holds its records however long a batch takes: no other worker gets one', async () => {
    const world = createWorld();
    const items = Array.from({ length: 12 }, (_, i) => ({ content: `a cursed text ${i}` }));
    await world.memory.write({ items }, world.call());
    const stolen: string[] = [];
    const { embedder } = hangingOn(world, 'cursed', 15_000);
    const embed: EmbedJobOptions['embedder']['embed'] = async (...call) => {
      const vectors = await embedder.embed(...call).catch((error: unknown) => error as Error);
      await world.index.refresh('acme');
      const tasks = await world.index.queue.claim('acme', { limit: 20, leaseMs: 1, by: 'worker-2' });
      stolen.push(...tasks.map((task) => task.record.record.memory_id));
      if (vectors instanceof Error) throw vectors;
      return vectors;
    };
    const begun = world.time.nowMs;
    await run(jobOf(world, { embedder: { ...embedder, embed } }));
    expect(world.time.nowMs - begun, 'longer than one lease').to.be.greaterThan(60_000);
    expect(stolen).to.deep.equal([]);
  });

  it('gives back what is left of a batch after a minute, so that hanging texts hold nobody up for long', async () => {
    const world = createWorld();
    const bad = await Promise.all(Array.from({ length: 12 }, (_, i) => write(world, { content: `a cursed text ${i}` })));
    const good = await write(world, { content: 'a fine text' });
    const job = jobOf(world, hangingOn(world, 'cursed', 15_000));
    const begun = world.time.nowMs;
    expect(await run(job)).to.equal('more');
    expect(world.time.nowMs - begun).to.be.below(90_000);
    const tries = bad.map((id) => recordOf(world, id).embed_tries ?? 0);
    expect(Math.max(...tries), 'some were tried').to.equal(1);
    expect(Math.min(...tries), 'others were not').to.equal(0);
    for (let i = 0; i < 40 && recordOf(world, good).spaces_due?.length !== 0; i += 1) await run(job);
    expect(recordOf(world, good).spaces_due).to.deep.equal([]);
  });

  it('gives a call up that never ends, and blames the text that does it alone', async () => {
    const world = createWorld();
    const [bad, good] = [await write(world, { content: 'a cursed text' }), await write(world, { content: 'a fine text' })];
    const signals: (AbortSignal | undefined)[] = [];
    const embed: EmbedJobOptions['embedder']['embed'] = async (space, texts, kind, signal) => {
      if (!texts.some((text) => text.includes('cursed'))) return world.embedder.embed(space, texts, kind, signal);
      signals.push(signal);
      // heeds no signal, as a client without a time-out would
      return new Promise(() => undefined);
    };
    await run(jobOf(world, { embedder: { ...world.embedder, embed }, callLimitMs: 20 }));
    expect(recordOf(world, bad)).to.deep.include({ embed_tries: 1, embed_error: 'ERR_EMBEDDING_UNAVAILABLE' });
    expect(recordOf(world, good).spaces_due).to.deep.equal([]);
    expect(signals.every((signal) => signal?.aborted === true)).to.equal(true);
  });

  it('blames a text on which a local worker hung, though the worker is being started again when it is asked', async () => {
    const world = createWorld();
    const [bad, good] = [await write(world, { content: 'a cursed text' }), await write(world, { content: 'a fine text' })];
    let restarting = 0;
    const embed: EmbedJobOptions['embedder']['embed'] = async (space, texts, kind, signal) => {
      if (restarting > 0) {
        restarting -= 1;
        throw new EmbeddingUnavailable('the embedding worker died and waits for its restart');
      }
      if (!texts.some((text) => text.includes('cursed'))) return world.embedder.embed(space, texts, kind, signal);
      restarting = 1;
      throw new EmbeddingUnavailable('the embedding worker gave no answer');
    };
    await run(jobOf(world, { embedder: { ...world.embedder, embed } }));
    expect(recordOf(world, bad)).to.include({ embed_tries: 1 });
    expect(recordOf(world, good).spaces_due).to.deep.equal([]);
  });

  it('blames no text for an outage that ends while the endpoint is asked', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'a fine text' });
    let failures = 2;
    const embed: EmbedJobOptions['embedder']['embed'] = async (...call) => {
      if (failures > 0) {
        failures -= 1;
        throw new EmbeddingUnavailable('no answer');
      }
      return world.embedder.embed(...call);
    };
    await run(jobOf(world, { embedder: { ...world.embedder, embed } }));
    expect(recordOf(world, id)).to.deep.include({ spaces_due: [], spaces_ready: ['zh', 'en'] });
    expect(recordOf(world, id)).not.to.have.property('embed_tries');
  });

  it('embeds a long record in calls of at most 64 texts', async () => {
    const world = createWorld();
    const id = await write(world, { content: '第一句话说的是茶叶的产地和季节。'.repeat(1_990) });
    const passages = recordOf(world, id).passages?.length ?? 0;
    expect(passages).to.be.greaterThan(64);
    await run(jobOf(world));
    expect(Math.max(...world.embedder.asked.map(({ texts }) => texts.length))).to.equal(64);
    expect(recordOf(world, id).passages?.every((passage) => passage.vec_zh?.length === 64)).to.equal(true);
  });

  it('breaks off the call that runs when it is to stop, without a try consumed, and gives the records back', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'text' });
    world.embedder.state = 'silent';
    const stop = new AbortController();
    const running = run(jobOf(world), stop.signal);
    while (world.embedder.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await running;
    expect(recordOf(world, id)).to.deep.include({ spaces_due: ['zh', 'en'] });
    expect(recordOf(world, id)).not.to.have.property('embed_tries');
    expect(Date.parse(recordOf(world, id).lease_until ?? '')).to.be.at.most(world.time.nowMs);
    world.embedder.state = 'up';
    await run(jobOf(world));
    expect(recordOf(world, id).spaces_due).to.deep.equal([]);
  });

  it('takes a model that refuses any text for an outage, which dead-letters nothing', async () => {
    const world = createWorld();
    const ids = [await write(world, { content: 'one' }), await write(world, { content: 'two' })];
    const refuse = async (): Promise<never> => Promise.reject(new EmbeddingRejected('the embedding endpoint refused it', 0));
    const job = jobOf(world, { embedder: { ...world.embedder, embed: refuse } });
    expect((await rejection(run(job))).code).to.equal('ERR_EMBEDDING_UNAVAILABLE');
    for (const id of ids) expect(recordOf(world, id)).not.to.have.property('embed_tries');
  });

  it('waits longer with each refusal before it tries again', async () => {
    const world = createWorld();
    const bad = await write(world, { content: 'a cursed text' });
    world.embedder.state = { refuses: 'cursed' };
    const job = jobOf(world);
    await run(job);
    await run(job);
    expect(recordOf(world, bad).embed_tries).to.equal(1);
    world.time.nowMs += 2_000;
    await run(job);
    expect(recordOf(world, bad).embed_tries).to.equal(2);
    world.time.nowMs += 2_000;
    await run(job);
    expect(recordOf(world, bad).embed_tries).to.equal(2);
  });

  it('takes over after a crash when the lease has run out, not before', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'text' });
    await world.index.refresh('acme');
    await world.index.queue.claim('acme', { limit: 10, leaseMs: 60_000, by: 'crashed' });
    await run(jobOf(world));
    expect(recordOf(world, id).vec_en).to.equal(undefined);
    world.time.nowMs += 60_001;
    await run(jobOf(world));
    expect(recordOf(world, id).vec_en).to.have.length(64);
  });

  it('writes its vectors when only the position moved, and leaves them when the text did', async () => {
    const world = createWorld();
    const counted = await write(world, { content: 'counted' });
    const corrected = await write(world, { content: 'wrong' });
    let once = true;
    world.index.before = async (method) => {
      if (method !== 'patchMany' || !once) return;
      once = false;
      world.index.plant({ ...recordOf(world, counted), hit_count: 3 });
      await world.memory.update({ memory_id: corrected, content: 'right' }, world.call());
    };
    await run(jobOf(world));
    expect(recordOf(world, counted)).to.deep.include({ spaces_due: [], hit_count: 3 });
    expect(recordOf(world, corrected)).to.deep.include({ content: 'right', spaces_due: ['zh', 'en'] });
    expect(recordOf(world, corrected).vec_en).to.equal(undefined);
    await run(jobOf(world));
    expect(recordOf(world, corrected).spaces_due).to.deep.equal([]);
  });

  for (const [said, corrected, answer] of [
    ['我喜欢红茶', '我喜欢绿茶', '是的没错'],
    ['I like black tea', 'I like green tea', 'Yes indeed'],
  ] as const) {
    it(`leaves vectors made with words that the turn before no longer says: ${said}`, async () => {
      const world = createWorld();
      const first = await write(world, { content: said, session_id: 's', turn: 1, admission: 'keep' });
      await run(jobOf(world));
      const second = await write(world, { content: answer, session_id: 's', turn: 2, admission: 'keep' });
      let once = true;
      world.index.before = async (method) => {
        if (method !== 'patchMany' || !once) return;
        once = false;
        await world.memory.update({ memory_id: first, content: corrected }, world.call());
      };
      await run(jobOf(world));
      expect(recordOf(world, second).vec_zh).to.equal(undefined);
      expect(recordOf(world, second).spaces_due).to.include('zh');
      world.embedder.asked.length = 0;
      await run(jobOf(world));
      expect(world.embedder.asked.find((a) => a.space === 'zh')?.texts).to.include(`${corrected}\n${answer}`);
      expect(recordOf(world, second).spaces_due).to.deep.equal([]);
    });
  }

  it('begins nothing new once it is to stop, and gives the rest back', async () => {
    const world = createWorld();
    const id = await write(world, { content: 'text' });
    const stop = new AbortController();
    stop.abort();
    await run(jobOf(world), stop.signal);
    expect(world.embedder.asked).to.deep.equal([]);
    expect(Date.parse(recordOf(world, id).lease_until ?? '')).to.be.at.most(world.time.nowMs);
  });

  it('asks for another run when a full batch was taken, and tells tenants and depth', async () => {
    const world = createWorld();
    await world.memory.write({ items: Array.from({ length: 20 }, (_, i) => ({ content: `text ${i}` })) }, world.call());
    const depths: { readonly due: number; readonly dead: number }[] = [];
    const job = jobOf(world, { onDepth: (depth) => void depths.push(depth) });
    await world.index.refresh('acme');
    expect(await job.due()).to.deep.equal(['acme']);
    expect(depths.map(({ due, dead }) => [due, dead])).to.deep.equal([[20, 0]]);
    expect(await run(job)).to.equal('more');
    expect(await run(job)).to.equal('idle');
    expect(await job.due()).to.deep.equal([]);
  });
});
