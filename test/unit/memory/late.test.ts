/** Writes that are stored after the end of their lease, or whose marks fail: nothing is lost, and nobody ends who never held the claim. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { createSlotRepair } from '../../../src/memory/conflicts/repair.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

const agent = principal({ actor: 'agent', clientId: 'bot' });
const home = (content: string): WriteInput => ({ content, kind: 'fact', subject: 'Ann', topic: 'residence' });

async function put(world: World, input: WriteInput, by: Principal = principal()): Promise<WriteResult> {
  const { results } = await world.memory.write(input, world.call(by));
  return results[0] as WriteResult;
}

const head = (world: World, id: string | null): MemoryRecord | undefined => world.index.heads.get(id ?? '')?.record;

const holderOfSlot = (world: World): string | undefined =>
  world.slots.all().find(({ document }) => document.slot_type === 'slot')?.document.memory_id;

/** The next create takes six seconds, in which this happens. */
function late(world: World, meanwhile: () => Promise<unknown> = async () => undefined): void {
  let first = true;
  world.index.before = async (method) => {
    if (method !== 'create' || !first) return;
    first = false;
    world.time.nowMs += 6_000;
    await meanwhile();
  };
}

describe('a write that was stored late', () => {
  it('stays beside what it contradicts when it never held the slot', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    late(world);
    const rome = await put(world, home('Ann lives in Rome'), agent);
    expect(rome.outcome).to.equal('conflict');
    expect(rome.memory_id).not.to.equal(paris.memory_id);
    expect(head(world, rome.memory_id)).to.deep.include({ status: 'conflict', conflict_with: [paris.memory_id] });
    expect(head(world, paris.memory_id)).to.deep.include({ status: 'active', conflict_with: [rome.memory_id] });
  });

  it('takes the slot again that was given back to the old value', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    late(world, async () => {
      const repair = createSlotRepair(world.deps, createTurnLinks(world.deps));
      for (const slot of world.slots.all()) await repair(slot);
      expect(holderOfSlot(world)).to.equal(paris.memory_id);
    });
    const rome = await put(world, home('Ann lives in Rome'));
    expect(rome).to.deep.include({ outcome: 'replaced', replaced: [paris.memory_id] });
    expect(head(world, rome.memory_id)?.status).to.equal('active');
    expect(head(world, paris.memory_id)).to.include({ status: 'superseded', superseded_by: rome.memory_id });
    expect(holderOfSlot(world)).to.equal(rome.memory_id);
  });

  it('leaves one value active when another one was stored in the slot meanwhile', async () => {
    const world = createWorld();
    let oslo: WriteResult | undefined;
    late(world, async () => (oslo = await put(world, home('Ann lives in Oslo'))));
    const rome = await put(world, home('Ann lives in Rome'));
    expect(oslo?.outcome).to.equal('stored');
    expect(rome.outcome).to.equal('stored');
    expect([head(world, oslo?.memory_id ?? null)?.status, head(world, rome.memory_id)?.status]).to.deep.equal(['superseded', 'active']);
    expect(holderOfSlot(world)).to.equal(rome.memory_id);
  });

  it('waits for who has taken its text and is not stored yet', async () => {
    const world = createWorld();
    let taken: Promise<WriteResult> | undefined;
    let creates = 0;
    let go: () => void = () => undefined;
    const stop = new Promise<void>((resolve) => (go = resolve));
    Object.assign(world.deps, {
      sleep: async (ms: number) => {
        world.time.nowMs += ms;
        go();
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    const tea: WriteInput = { content: 'Ann likes green tea', kind: 'fact' };
    world.index.before = async (method) => {
      if (method !== 'create') return;
      creates += 1;
      if (creates === 1) {
        world.time.nowMs += 6_000;
        taken = put(world, tea);
        while (creates < 2) await new Promise((resolve) => setImmediate(resolve));
      } else await stop;
    };
    const first = await put(world, tea);
    const second = await taken;
    expect(second?.outcome).to.equal('stored');
    expect(first).to.include({ outcome: 'duplicate', memory_id: second?.memory_id });
    expect([...world.index.heads.values()].filter(({ record }) => record.status === 'active')).to.have.length(1);
  });
});

describe('a write whose marks fail', () => {
  const failing = (world: World): void => {
    world.index.before = (method) => {
      if (method === 'saveVersion') throw new Error('the store is away');
    };
  };

  it('answers what is stored as stored, and tells of the mark', async () => {
    const degraded: string[] = [];
    const world = createWorld({ deps: { onDegraded: (part) => void degraded.push(part) } });
    const paris = await put(world, home('Ann lives in Paris'));
    failing(world);
    const items = [home('Ann lives in Rome'), { content: 'The build needs Node 20', kind: 'fact' as const }];
    const { results } = await world.memory.write({ items }, world.call());
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['replaced', 'stored']);
    expect(degraded).to.deep.equal(['marks']);
    expect(head(world, paris.memory_id)?.status).to.equal('active');
  });

  it('marks what is left when the same is said again', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    failing(world);
    const rome = await put(world, home('Ann lives in Rome'));
    world.index.before = undefined;
    expect(await put(world, home('Ann lives in Rome'))).to.include({ outcome: 'duplicate', memory_id: rome.memory_id });
    expect(head(world, paris.memory_id)).to.include({ status: 'superseded', superseded_by: rome.memory_id });
  });

  it('marks what is left when the call is made again', async () => {
    const world = createWorld();
    const inferred = await put(world, home('Ann lives in Paris'));
    failing(world);
    const call = world.call(agent, { idempotencyKey: 'k1' });
    const { dirty } = world.deps;
    let marked = 0;
    Object.assign(world.deps, {
      dirty: {
        ...dirty,
        mark: async (tenant: string) => {
          marked += 1;
          if (marked === 2) throw new Error('cut off');
          return dirty.mark(tenant);
        },
      },
    });
    await world.memory.write(home('Ann lives in Rome'), call).then(
      () => expect.fail('it was cut off'),
      () => undefined,
    );
    world.index.before = undefined;
    const { results } = await world.memory.write(home('Ann lives in Rome'), call);
    expect(head(world, inferred.memory_id)).to.deep.include({ status: 'active', conflict_with: [results[0]?.memory_id] });
  });

  it('answers all that is stored when the claims of a repeat cannot be handed over', async () => {
    const world = createWorld();
    const first = await put(world, { content: 'Please remember that Ann likes green tea', kind: 'fact' });
    world.slots.before = (method) => {
      if (method === 'move') throw new Error('the store is away');
    };
    const items = ['The build needs Node 20', 'Remember that Ann likes the green tea'].map((content) => ({
      content,
      kind: 'fact' as const,
    }));
    const { results } = await world.memory.write({ items }, world.call());
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'merged']);
    expect(results[1]?.memory_id).to.equal(first.memory_id);
  });

  it('ends nothing that was brought back since', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    const rome = await put(world, home('Ann lives in Rome'));
    world.time.nowMs += 1_000;
    const back = { ...(head(world, paris.memory_id) as MemoryRecord), status: 'active' as const };
    const { superseded_by: _by, ...stands } = back;
    world.index.plant({ ...stands, subject: 'Bo', valid_from: new Date(world.time.nowMs).toISOString() });
    expect((await put(world, home('Ann lives in Rome'))).memory_id).to.equal(rome.memory_id);
    expect(head(world, paris.memory_id)?.status).to.equal('active');
  });
});

describe('a batch whose call is given up', () => {
  it('begins no further round', async () => {
    const world = createWorld();
    const given = new AbortController();
    let creates = 0;
    world.index.before = (method) => {
      if (!method.startsWith('create')) return;
      creates += 1;
      given.abort();
    };
    const items = ['Paris', 'Rome', 'Oslo'].map((city) => home(`Ann lives in ${city}`));
    const { results } = await world.memory.write({ items }, world.call(principal(), { signal: given.signal }));
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'failed', 'failed']);
    expect(creates).to.equal(1);
  });
});

describe('a memory that is brought back into a slot that is being written', () => {
  const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** A write of Rome that has its claim and waits until it may be stored; restoring sleeps on its own clock. */
  async function underWay(): Promise<{ world: World; paris: string; rome: Promise<WriteResult>; go: () => void }> {
    let go: () => void = () => undefined;
    const stop = new Promise<void>((resolve) => (go = resolve));
    const world = createWorld();
    const { memory_id: paris } = await put(world, home('Ann lives in Paris'));
    await world.memory.forget({ memory_id: paris as string }, world.call());
    let begun = false;
    world.index.before = async (method) => {
      if (method !== 'create') return;
      begun = true;
      await stop;
    };
    const rome = put(world, home('Ann lives in Rome'));
    while (!begun) await tick();
    return { world, paris: paris as string, rome, go };
  }

  it('waits for what is on its way, and takes its place', async () => {
    const { world, paris, rome, go } = await underWay();
    Object.assign(world.deps, {
      sleep: async (ms: number) => {
        world.time.nowMs += ms;
        go();
        for (let n = 0; n < 20; n += 1) await tick();
      },
    });
    await world.memory.restore({ memory_id: paris }, world.call());
    const { memory_id: other } = await rome;
    expect(head(world, paris)?.status).to.equal('active');
    expect(head(world, other)).to.include({ status: 'superseded', superseded_by: paris });
    expect(holderOfSlot(world)).to.equal(paris);
  });

  it('is in conflict with what does not come while its lease lasts, and leaves it the slot', async () => {
    const { world, paris, rome, go } = await underWay();
    const given = new AbortController();
    given.abort();
    const answer = await world.memory.restore({ memory_id: paris }, world.call(principal(), { signal: given.signal }));
    expect(answer.outcome).to.equal('conflict');
    go();
    const { memory_id: other } = await rome;
    expect(holderOfSlot(world)).to.equal(other);
    expect(head(world, other)?.status).to.equal('active');
    expect(head(world, paris)).to.deep.include({ status: 'conflict', conflict_with: [other] });
  });
});
