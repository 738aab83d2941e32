/** Two writers of the same text in the same slot: whatever the order in which their claims arrive, one memory stands. */
import { expect } from 'chai';
import type { SlotStore } from '../../../src/domain/ports.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { createMemoryGateway } from '../../../src/memory/create-gateway.ts';
import { createWorld, type World } from '../../support/memory-world.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A bulk reaches the shards of its items in any order. */
function oneByOne(slots: SlotStore, pauses: () => number, reversed: boolean): SlotStore {
  const each = async <T, R>(items: readonly T[], one: (item: T) => Promise<R>): Promise<R[]> => {
    const done = new Map<T, R>();
    for (const item of reversed ? [...items].reverse() : items) {
      for (let n = pauses(); n > 0; n -= 1) await turn();
      done.set(item, await one(item));
    }
    return items.map((item) => done.get(item) as R);
  };
  return {
    ...slots,
    claim: (tenant, claims) => each(claims, async (claim) => (await slots.claim(tenant, [claim]))[0]),
    move: (tenant, moves) => each(moves, async (move) => (await slots.move(tenant, [move]))[0] ?? 'conflict'),
  };
}

function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) % 4;
}

/** Both write at once; sleeping moves the clock on, and lets the others go first. */
async function race(world: World, seed: number, bodies: readonly [WriteInput, WriteInput]): Promise<readonly WriteResult[]> {
  const next = numbers(seed);
  const sleep = async (ms: number): Promise<void> => {
    world.time.nowMs += ms;
    for (let n = 0; n < 20; n += 1) await turn();
  };
  const answers = await Promise.all(
    bodies.map((body, i) => {
      const memory = createMemoryGateway({ ...world.deps, sleep, slots: oneByOne(world.slots, next, i === 1) });
      return memory.write(body, world.call());
    }),
  );
  return answers.flatMap(({ results }) => results);
}

const active = (world: World): readonly string[] =>
  [...world.index.heads.values()].flatMap(({ record }) => (record.status === 'active' ? [record.memory_id] : []));
const home = (content: string): WriteInput => ({ content, kind: 'fact', subject: 'Ann', topic: 'residence' });
const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);

describe('two who write the same text into the same slot at once', () => {
  it('store it once, and none waits for a lease to end', async () => {
    for (const seed of SEEDS) {
      const world = createWorld();
      const before = world.time.nowMs;
      const results = await race(world, seed, [home('Ann lives in Paris'), home('Ann lives in Paris')]);
      expect(results.map(({ outcome }) => outcome).sort(), `seed ${seed}`).to.deep.equal(['duplicate', 'stored']);
      expect(active(world), `seed ${seed}`).to.have.length(1);
      expect(world.time.nowMs - before, `seed ${seed}`).to.be.below(2_000);
    }
  });

  it('store it once where the claims of a dead process are in the way', async () => {
    for (const seed of SEEDS) {
      const world = createWorld();
      world.index.before = (method) => {
        if (method === 'create') throw new Error('killed');
      };
      await world.memory.write(home('Ann lives in Paris'), world.call()).catch(() => undefined);
      world.index.before = undefined;
      world.time.nowMs += 6_000;
      // one claim of the two is there
      await world.slots.release(
        'acme',
        world.slots.all().flatMap(({ id, document }) => (document.slot_type === 'slot' ? [{ id, memoryId: document.memory_id }] : [])),
      );
      const before = world.time.nowMs;
      const results = await race(world, seed, [home('Ann lives in Paris'), home('Ann lives in Paris')]);
      expect(results.map(({ outcome }) => outcome).sort(), `seed ${seed}`).to.deep.equal(['duplicate', 'stored']);
      expect(active(world), `seed ${seed}`).to.have.length(1);
      expect(world.time.nowMs - before, `seed ${seed}`).to.be.below(2_000);
    }
  });

  it('leave one active where an old value is in the slot', async () => {
    for (const seed of SEEDS) {
      const world = createWorld();
      await world.memory.write(home('Ann lives in Paris'), world.call());
      await race(world, seed, [home('Ann lives in Rome'), home('Ann lives in Rome')]);
      expect(active(world), `seed ${seed}`).to.have.length(1);
    }
  });

  it('leave one active of two values', async () => {
    for (const seed of SEEDS) {
      const world = createWorld();
      const results = await race(world, seed, [home('Ann lives in Paris'), home('Ann lives in Rome')]);
      expect(results.map(({ outcome }) => outcome).sort(), `seed ${seed}`).to.deep.equal(['replaced', 'stored']);
      expect(active(world), `seed ${seed}`).to.have.length(1);
    }
  });
});

describe('a call that is made again after its lease', () => {
  it('renews its claim before it stores, and stores nothing beside who has taken it', async () => {
    const world = createWorld();
    const call = world.call(undefined, { idempotencyKey: 'k1' });
    world.index.before = (method) => {
      if (method === 'create') throw new Error('killed');
    };
    await world.memory.write(home('Ann lives in Paris'), call).catch(() => undefined);
    world.index.before = undefined;
    world.time.nowMs += 6_000;
    // the other takes the claims over in the moment in which this one has found them its own
    let taken: WriteResult | undefined;
    let first = true;
    world.slots.before = async (method) => {
      if (method !== 'move' || !first) return;
      first = false;
      taken = (await world.memory.write(home('Ann lives in Paris'), world.call())).results[0];
    };
    const { results } = await world.memory.write(home('Ann lives in Paris'), call);
    expect(taken?.outcome).to.equal('stored');
    expect(results[0]).to.include({ outcome: 'duplicate', memory_id: taken?.memory_id });
    expect(active(world)).to.have.length(1);
  });
});
