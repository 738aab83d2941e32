/** What a write that takes another memory's place asks of the store before it answers, and what it leaves for afterwards. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import type { MemoryDeps } from '../../../src/memory/deps.ts';
import { createAfterwards } from '../../../src/compose/afterwards.ts';
import { createSlotRepairJob } from '../../../src/jobs/slot-repair.ts';
import { createSlotRepair } from '../../../src/memory/conflicts/repair.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

type Work = (signal: AbortSignal) => Promise<void>;

/** A world whose answers do not wait for what follows; `follow` does it. */
function worldThatAnswersFirst(deps: Partial<MemoryDeps> = {}): {
  readonly world: World;
  readonly works: Work[];
  readonly follow: () => Promise<void>;
} {
  const works: Work[] = [];
  const world = createWorld({ deps: { afterwards: (work) => void works.push(work), ...deps } });
  const follow = async (): Promise<void> => {
    for (let work = works.shift(); work !== undefined; work = works.shift()) await work(new AbortController().signal);
  };
  return { world, works, follow };
}

const team = { namespaces: ['**'], scopes: ['memory:read', 'memory:write', 'memory:forget', 'memory:share'] };
const ann = principal(team);
const bob = principal({ ...team, sub: 'bob' });

async function put(world: World, input: WriteInput, by: Principal = ann): Promise<WriteResult> {
  const { results } = await world.memory.write(input, world.call(by));
  world.time.nowMs += 1_000;
  return results[0] as WriteResult;
}

function head(world: World, id: string | null | undefined): MemoryRecord {
  const found = world.index.heads.get(id ?? '')?.record;
  if (found === undefined) throw new Error(`no memory ${String(id)}`);
  return found;
}

const home = (city: string): WriteInput => ({
  content: `Kim lives in ${city}`,
  kind: 'fact',
  subject: 'Kim',
  topic: 'residence',
  namespace: 'team.x',
});

const said = (content: string): WriteInput => ({ content, kind: 'fact', namespace: 'team.x' });

/** The next so many calls of a method fail. */
function failing(method: string, times: number): (called: string) => void {
  let left = times;
  return (called) => {
    if (called !== method || left === 0) return;
    left -= 1;
    throw new Error('away');
  };
}

/** Once the leases are over. */
async function repairSlots(world: World): Promise<void> {
  world.time.nowMs += 6_000;
  const job = createSlotRepairJob({ slots: world.slots, repair: createSlotRepair(world.deps, createTurnLinks(world.deps)) });
  await job.run('acme', { nudged: false, signal: new AbortController().signal });
}

async function summaryOf(world: World, parent: string | null, by: Principal, visibility: 'private' | 'shared'): Promise<string> {
  const item: WriteInput = {
    content: `Summed up: Kim lives in Paris (${visibility})`,
    kind: 'summary',
    admission: 'keep',
    namespace: 'team.x',
    visibility,
    source: { type: 'agent', parents: [parent ?? ''] },
  };
  return (await put(world, item, by)).memory_id ?? '';
}

describe('a write that takes another memory’s place', () => {
  it('answers after the mark, without a refresh or a look for what was made of it', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const paris = await put(world, home('Paris'));
    await follow();
    [world.index.calls.length, world.slots.calls.length] = [0, 0];
    const rome = await put(world, home('Rome'));
    expect(rome).to.include({ outcome: 'replaced' });
    expect(head(world, paris.memory_id)).to.include({ status: 'superseded', superseded_by: rome.memory_id, version: 2 });
    expect(world.index.calls).to.deep.equal(['similar', 'get', 'create', 'get', 'saveVersion', 'replace', 'get']);
    expect([...world.slots.calls].sort()).to.deep.equal(['claim', 'move', 'read']);
    const slot = (): unknown => world.slots.all().find(({ document }) => document.slot_type === 'slot')?.document.previous_id;
    expect(slot(), 'until all is done').to.equal(paris.memory_id);
    [world.index.calls.length, world.slots.calls.length] = [0, 0];
    await follow();
    expect(world.index.calls).to.deep.equal(['refresh', 'madeOf']);
    expect(world.slots.calls).to.deep.equal(['move']);
    expect(slot()).to.equal(undefined);
  });

  it('shares one look-up with others that end at the same time', async () => {
    const { world, works, follow } = worldThatAnswersFirst();
    for (const city of ['Paris', 'Rome', 'Oslo']) await put(world, home(city));
    await put(world, { ...home('Bonn'), subject: 'Lee', content: 'Lee lives in Bonn' });
    await put(world, { ...home('Kiel'), subject: 'Lee', content: 'Lee lives in Kiel' });
    expect(works).to.have.length(1);
    world.index.calls.length = 0;
    await follow();
    expect(world.index.calls).to.deep.equal(['refresh', 'madeOf']);
    const active = [...world.index.heads.values()].filter(({ record }) => record.status === 'active').map(({ record }) => record.content);
    expect(active.sort()).to.deep.equal(['Kim lives in Oslo', 'Lee lives in Kiel']);
    expect(world.slots.all().some(({ document }) => document.previous_id !== undefined)).to.equal(false);
  });

  it('leaves summaries of the old value in doubt, whoever made them, and ends proposals to it', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const paris = await put(world, { ...home('Paris'), visibility: 'shared' });
    const own = await summaryOf(world, paris.memory_id, ann, 'shared');
    const theirs = await summaryOf(world, paris.memory_id, bob, 'private');
    const { candidate_id: proposal = '' } = await world.memory.update(
      { memory_id: paris.memory_id ?? '', content: 'Kim lives in Lyon' },
      world.call(bob),
    );
    expect(head(world, proposal).status).to.equal('candidate');
    await put(world, { ...home('Rome'), visibility: 'shared' });
    await follow();
    const reason = 'possibly outdated: a memory that it sums up says something else by now';
    expect(head(world, own)).to.include({ status: 'active', doubt: 0.5, reason });
    expect(head(world, theirs)).to.include({ status: 'active', doubt: 0.5, reason });
    expect(head(world, theirs).created_by, 'who wrote the new value is not told to him').to.deep.equal({ sub: 'system', actor: 'service' });
    expect(head(world, proposal)).to.include({ status: 'forgotten' });
  });

  it('leaves what a crash kept from being done to the repair, which does it once the lease is over', async () => {
    const { world } = worldThatAnswersFirst();
    const paris = await put(world, { ...home('Paris'), visibility: 'shared' });
    const summary = await summaryOf(world, paris.memory_id, ann, 'shared');
    await put(world, { ...home('Rome'), visibility: 'shared' });
    // the process ends here: nobody follows
    expect(head(world, summary)).not.to.have.property('doubt');
    await repairSlots(world);
    expect(head(world, summary)).to.include({ doubt: 0.5 });
    expect(world.slots.all().some(({ document }) => document.previous_id !== undefined)).to.equal(false);
  });

  it('is nobody’s past when it was brought back in the meantime: what sums it up is left alone', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const paris = await put(world, { ...home('Paris'), visibility: 'shared' });
    const summary = await summaryOf(world, paris.memory_id, ann, 'shared');
    await put(world, { ...home('Rome'), visibility: 'shared' });
    await world.memory.restore({ memory_id: paris.memory_id ?? '' }, world.call(ann));
    await follow();
    expect(head(world, paris.memory_id)).to.include({ status: 'active' });
    expect(head(world, summary)).not.to.have.property('doubt');
    expect(world.slots.all().some(({ document }) => document.previous_id !== undefined)).to.equal(false);
  });

  it('keeps a slot for the repair when the store goes away and stays away, and says so', async () => {
    const told: string[] = [];
    const { world, works } = worldThatAnswersFirst({ onDegraded: (part) => void told.push(part) });
    const paris = await put(world, { ...home('Paris'), visibility: 'shared' });
    const summary = await summaryOf(world, paris.memory_id, ann, 'shared');
    await put(world, { ...home('Rome'), visibility: 'shared' });
    world.index.before = failing('madeOf', Infinity);
    await works.shift()?.(new AbortController().signal);
    expect(told).to.deep.equal(['marks']);
    // the process ends here
    expect(world.slots.all().filter(({ document }) => document.previous_id !== undefined)).to.have.length(1);
    world.index.before = undefined;
    await repairSlots(world);
    expect(head(world, summary)).to.include({ doubt: 0.5 });
    expect(world.slots.all().some(({ document }) => document.previous_id !== undefined)).to.equal(false);
  });
});

describe('a store that fails once', () => {
  it('keeps nothing from being done that follows the move of a slot', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const paris = await put(world, { ...home('Paris'), visibility: 'shared' });
    const summary = await summaryOf(world, paris.memory_id, ann, 'shared');
    await put(world, { ...home('Rome'), visibility: 'shared' });
    world.index.before = failing('madeOf', 1);
    await follow();
    expect(head(world, summary)).to.include({ doubt: 0.5 });
    expect(world.slots.all().some(({ document }) => document.previous_id !== undefined)).to.equal(false);
  });

  it('keeps nothing from being done that follows an end of which no slot tells', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const job = await put(world, { ...said('Ana works at Siemens.'), visibility: 'shared' });
    const summary = await summaryOf(world, job.memory_id, ann, 'shared');
    world.index.before = failing('madeOf', 1);
    const gone = await put(world, { ...said('Ana no longer works at Siemens.'), visibility: 'shared' });
    expect(gone).to.deep.include({ outcome: 'replaced', replaced: [job.memory_id] });
    expect(head(world, summary)).not.to.have.property('doubt');
    await follow();
    expect(head(world, summary)).to.include({ doubt: 0.5 });
  });

  it('leaves no turn the words of one that has ended', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const first = { session_id: 's1', turn: 1 };
    const paris = await put(world, { ...home('Paris'), ...first });
    const next = await put(world, { ...said('The parcel for her goes to the office.'), session_id: 's1', turn: 2 });
    expect(head(world, next.memory_id).lex_context).to.include('pari');
    await put(world, home('Rome'));
    expect(head(world, paris.memory_id).status).to.equal('superseded');
    world.index.before = failing('list', 1);
    await follow();
    expect(head(world, next.memory_id)).not.to.have.property('prev_turn_id');
    expect(head(world, next.memory_id).lex_context ?? '').not.to.include('pari');
  });

  it('leaves no two values of a slot, nor of what no slot tells of', async () => {
    const { world, follow } = worldThatAnswersFirst();
    for (const [one, other] of [
      [home('Paris'), home('Rome')],
      [said('Ana works at Siemens.'), said('Ana no longer works at Siemens.')],
    ] as const) {
      const before = await put(world, one);
      world.index.before = failing('replace', 1);
      const after = await put(world, other);
      expect(after).to.deep.include({ outcome: 'replaced', replaced: [before.memory_id] });
      expect(head(world, before.memory_id).status).to.equal('active');
      await follow();
      expect(head(world, before.memory_id)).to.include({ status: 'superseded', superseded_by: after.memory_id });
    }
  });

  it('ends nothing later on that a person has changed since', async () => {
    const { world, follow } = worldThatAnswersFirst();
    const before = await put(world, said('Ana works at Siemens.'));
    world.index.before = failing('replace', 1);
    await put(world, said('Ana no longer works at Siemens.'));
    await world.memory.update({ memory_id: before.memory_id ?? '', content: 'Ana works at Siemens again, since May.' }, world.call(ann));
    await follow();
    expect(head(world, before.memory_id)).to.include({ status: 'active', version: 2 });
  });
});

describe('what follows an end', () => {
  it('is waited for where no slot tells of it, though the same write moves one', async () => {
    const { world } = worldThatAnswersFirst();
    const munich = await put(world, { ...said('Kim lives in Munich.'), visibility: 'shared' });
    const bot = principal({ ...team, actor: 'agent', clientId: 'bot' });
    const inferred = await put(world, { ...said('Kim lives in Berlin.'), visibility: 'shared', source: { type: 'agent' } }, bot);
    expect(inferred.outcome).to.equal('conflict');
    const summary = await summaryOf(world, inferred.memory_id, ann, 'shared');
    const oslo = await put(world, { ...said('Kim lives in Oslo.'), visibility: 'shared' });
    expect(oslo.replaced).to.have.members([munich.memory_id, inferred.memory_id]);
    // nobody follows: the process ends here
    expect(head(world, summary)).to.include({ doubt: 0.5 });
  });

  it('is done by a repeat of the call that died over it', async () => {
    const world = createWorld();
    const job = await put(world, { ...said('Ana works at Siemens.'), visibility: 'shared' });
    const summary = await summaryOf(world, job.memory_id, ann, 'shared');
    const call = world.call(ann, { idempotencyKey: 'k1' });
    const gone: WriteInput = { ...said('Ana no longer works at Siemens.'), visibility: 'shared' };
    // what it stored and marked stands; what follows does not happen, and its answer is not kept
    world.index.before = failing('madeOf', 1);
    const { idempotency } = world.deps;
    const kept = { finish: idempotency.finish.bind(idempotency) };
    Object.assign(idempotency, { finish: () => Promise.reject(new Error('killed')) });
    await world.memory.write(gone, call).catch(() => undefined);
    Object.assign(idempotency, kept);
    expect(head(world, job.memory_id).status).to.equal('superseded');
    expect(head(world, summary)).not.to.have.property('doubt');
    await world.memory.write(gone, call);
    expect(head(world, summary)).to.include({ doubt: 0.5 });
  });
});

describe('work that no answer waits for', () => {
  it('is hurried and waited for by a stop, with what it begins itself', async () => {
    const afterwards = createAfterwards();
    const done: string[] = [];
    afterwards.run(async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      done.push('first');
      afterwards.run(async () => void done.push('second'));
    });
    await afterwards.close();
    expect(done).to.deep.equal(['first', 'second']);
  });
});
