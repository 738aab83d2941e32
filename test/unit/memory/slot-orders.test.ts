/** Two services that write one slot, with the embed job, what follows a write and the slot repair at work: in whatever order their requests arrive, one value stands. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { MemoryIndex, SlotStore } from '../../../src/domain/ports.ts';
import type { WriteInput } from '../../../src/domain/wire/write.ts';
import { createSlotRepairJob } from '../../../src/jobs/slot-repair.ts';
import { createMeetNearest } from '../../../src/memory/conflicts/meet-nearest.ts';
import { createSlotRepair } from '../../../src/memory/conflicts/repair.ts';
import { createMemoryGateway } from '../../../src/memory/create-gateway.ts';
import type { MemoryDeps } from '../../../src/memory/deps.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, vectorOf, type World } from '../../support/memory-world.ts';

const RUNS = Number(process.env['TEST_ORDERS'] ?? 25);

const home = (city: string): WriteInput => ({ content: `Ann lives in ${city}`, kind: 'fact', subject: 'Ann', topic: 'residence' });

/** Every request waits for its turn, and so does its answer. */
function inTurn<T extends MemoryIndex | SlotStore>(store: T, turn: () => Promise<void>): T {
  return new Proxy(store, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      return async (...args: unknown[]): Promise<unknown> => {
        await turn();
        const answer: unknown = await (found as (...given: unknown[]) => unknown).apply(target, args);
        await turn();
        return answer;
      };
    },
  });
}

interface Service {
  readonly deps: MemoryDeps;
  /** Resolves when nothing is left that follows its writes. */
  readonly followed: () => Promise<void>;
}

/** One of several on the same stores; its clock is ahead of theirs. */
function serviceOn(world: World, turn: () => Promise<void>, aheadMs: number): Service {
  const running = new Set<Promise<void>>();
  const deps: MemoryDeps = {
    ...world.deps,
    clock: () => world.time.nowMs + aheadMs,
    index: inTurn(world.index, turn),
    slots: inTurn(world.slots, turn),
    sleep: async (ms) => {
      world.time.nowMs += ms;
      await turn();
    },
    afterwards: (work) => {
      const one: Promise<void> = work(new AbortController().signal).finally(() => running.delete(one));
      running.add(one);
    },
  };
  return {
    deps,
    followed: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const all = (world: World): readonly MemoryRecord[] => [...world.index.heads.values()].map(({ record }) => record);
/** Those that stand. */
const values = (world: World): readonly MemoryRecord[] =>
  all(world).filter(({ kind, status }) => kind === 'fact' && (status === 'active' || status === 'conflict'));

/** Vectors as near as can be, so that any two values meet. */
async function embedJob({ deps }: Service, world: World): Promise<void> {
  const meet = createMeetNearest({ ...deps, embedder: world.embedder }, createTurnLinks(deps));
  const vector = vectorOf('Ann lives');
  await meet(
    'acme',
    values(world).map((record) => ({ record, vectors: new Map(world.embedder.spaces.map(({ name }) => [name, vector])) })),
  );
}

const repairJob = async ({ deps }: Service): Promise<void> => {
  const job = createSlotRepairJob({ slots: deps.slots, repair: createSlotRepair(deps, createTurnLinks(deps)) });
  await job.run('acme', { nudged: false, signal: new AbortController().signal });
};

async function expectOne(world: World, of: readonly string[]): Promise<void> {
  const facts = all(world).filter(({ kind }) => kind === 'fact');
  const told = JSON.stringify(facts.map(({ content, status, superseded_by: by }) => [content, status, by]));
  const [active, ...more] = facts.filter(({ status }) => status === 'active');
  expect(more, told).to.deep.equal([]);
  expect(active?.content, told).to.be.oneOf(of.map((city) => `Ann lives in ${city}`));
  expect(
    facts.filter((one) => one !== active).map(({ status }) => status),
    told,
  ).to.deep.equal(facts.slice(1).map(() => 'superseded'));
  expect(world.slots.all().some(({ document }) => document.previous_id !== undefined)).to.equal(false);
  // the slot is the active one's: the next value takes its place
  world.time.nowMs += 60_000;
  const { results } = await world.memory.write(home('Lima'), world.call());
  expect(results[0]?.replaced, told).to.deep.equal([active?.memory_id]);
}

describe('one slot, written by two services at once', () => {
  for (const [name, before, restores] of [
    ['that nobody has filled', undefined, false],
    ['that has a value, of which a summary was made', 'Bonn', false],
    ['whose former value is brought back at the same time', 'Bonn', true],
  ] as const)
    it(`has one value in whatever order the requests arrive: one ${name}`, async function () {
      this.timeout(120_000);
      const ahead = fc.integer({ min: 0, max: 900 });
      const job = fc.record({ service: fc.constantFrom(0, 1), after: fc.nat({ max: 40 }), repairs: fc.boolean(), waits: fc.boolean() });
      const jobsAt = fc.array(job, { maxLength: 4 });
      const backAfter = fc.nat({ max: 40 });
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), fc.tuple(ahead, ahead), jobsAt, backAfter, async (scheduler, aheadMs, jobs, turns) => {
          const world = createWorld();
          const summary = before === undefined ? undefined : await summed(world, before);
          const turn = scheduler.scheduleFunction(async () => undefined) as () => Promise<void>;
          const services = aheadMs.map((ms) => serviceOn(world, turn, ms)) as unknown as readonly [Service, Service];
          const works: Promise<unknown>[] = services.map(({ deps }, n) =>
            createMemoryGateway(deps).write(home(n === 0 ? 'Paris' : 'Rome'), world.call()),
          );
          if (restores) works.push(broughtBack(world, services[1], turn, turns));
          let seen: readonly MemoryRecord[] = [];
          const answered = Promise.all(works).then(() => (seen = values(world)));
          // some begin just when there are two values, as the write of the second one is about to mark the first
          const run = async ({ service, after, repairs, waits }: { service: number; after: number; repairs: boolean; waits: boolean }) => {
            for (let n = 0; n < (waits ? 300 : after) && !(waits && values(world).length === 2); n += 1) await turn();
            const one = services[service === 0 ? 0 : 1];
            await (repairs ? repairJob(one) : embedJob(one, world));
          };
          await scheduler.waitFor(Promise.all([answered, ...jobs.map(run), ...services.map(({ followed }) => answered.then(followed))]));
          if (!restores) expect(seen, 'as the answers are given').to.have.length(1);
          // what a lease kept the repair from
          world.time.nowMs += 60_000;
          await scheduler.waitFor(repairJob(services[0]));
          if (summary !== undefined && !restores) expect(world.index.heads.get(summary)?.record.doubt).to.equal(0.5);
          await expectOne(world, restores ? ['Paris', 'Rome', 'Bonn'] : ['Paris', 'Rome']);
        }),
        { numRuns: RUNS },
      );
    });
});

/** The first value, so many turns after another one has taken its place. */
async function broughtBack(world: World, { deps }: Service, turn: () => Promise<void>, after: number): Promise<void> {
  const [first] = all(world);
  for (let n = 0; n < 400 && all(world)[0]?.status === 'active'; n += 1) await turn();
  for (let n = 0; n < after; n += 1) await turn();
  await createMemoryGateway(deps).restore({ memory_id: first?.memory_id ?? '' }, world.call());
}

async function summed(world: World, city: string): Promise<string> {
  const { results } = await world.memory.write(home(city), world.call());
  const made = await world.memory.write(
    {
      content: 'Ann has moved a lot',
      kind: 'summary',
      admission: 'keep',
      source: { type: 'agent', parents: [results[0]?.memory_id ?? ''] },
    },
    world.call(),
  );
  return made.results[0]?.memory_id ?? '';
}
