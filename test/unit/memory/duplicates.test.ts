/** Duplicates and conflicts at the write: what is said twice is stored once, a slot has one value, and nobody less trusted decides. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import type { HeldSlot } from '../../../src/domain/slots.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { createSlotRepairJob } from '../../../src/jobs/slot-repair.ts';
import { createSlotRepair } from '../../../src/memory/conflicts/repair.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

const SHARING = ['memory:read', 'memory:write', 'memory:forget', 'memory:share'];
const agent = principal({ actor: 'agent', clientId: 'bot' });

async function put(world: World, input: WriteInput, by: Principal = principal()): Promise<WriteResult> {
  const { results } = await world.memory.write(input, world.call(by));
  return results[0] as WriteResult;
}

function heads(world: World): readonly MemoryRecord[] {
  return [...world.index.heads.values()].map(({ record }) => record);
}

function head(world: World, id: string | null): MemoryRecord {
  const found = world.index.heads.get(id ?? '')?.record;
  if (found === undefined) throw new Error(`no memory ${String(id)}`);
  return found;
}

const fact = (content: string, more: Partial<WriteInput> = {}): WriteInput => ({ content, kind: 'fact', ...more });

describe('duplicates at the write', () => {
  it('answers an exact repeat with the memory that is there, and stores nothing', async () => {
    const world = createWorld();
    const first = await put(world, fact('Ann likes green tea.'));
    const again = await put(world, fact('  ann likes green tea '));
    expect(first.outcome).to.equal('stored');
    expect(again).to.include({ outcome: 'duplicate', memory_id: first.memory_id, version: 1 });
    expect(again.reason).to.be.a('string');
    expect(heads(world)).to.have.length(1);
  });

  it('stores a repeat with admission keep as it is given', async () => {
    const world = createWorld();
    await put(world, fact('Ann likes green tea'));
    const kept = await put(world, fact('Ann likes green tea', { admission: 'keep' }));
    expect(kept.outcome).to.equal('stored');
    expect(heads(world)).to.have.length(2);
    expect(world.slots.calls.filter((call) => call === 'claim')).to.have.length(1);
  });

  it('lets the items of a batch see one another', async () => {
    const world = createWorld();
    const items = ['The build needs Node 20', 'Ann lives in Paris', 'the build needs node 20'].map((content) => ({
      content,
      kind: 'fact',
    }));
    const { results } = await world.memory.write({ items }, world.call());
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'stored', 'duplicate']);
    expect(results[2]?.memory_id).to.equal(results[0]?.memory_id);
    expect(heads(world)).to.have.length(2);
  });

  it('adds nothing when the same batch is replayed ten times', async () => {
    const world = createWorld();
    const items = [
      { content: 'Ann works at Siemens as an engineer', kind: 'fact' },
      { content: '小王对花生过敏，点餐时要提醒', kind: 'fact' },
      { content: 'The deadline of the report is Friday', kind: 'fact', subject: 'report', topic: 'deadline' },
      { content: 'Use tabs in this repository', kind: 'constraint' },
      { content: 'The nightly build failed with error 137', kind: 'error', session_id: 's1', turn: 4 },
    ];
    await world.memory.write({ items }, world.call());
    const before = heads(world);
    for (let n = 0; n < 10; n += 1) {
      const { results } = await world.memory.write({ items }, world.call());
      expect(results.map(({ outcome }) => outcome)).to.deep.equal(items.map(() => 'duplicate'));
    }
    expect(heads(world)).to.deep.equal(before);
  });

  it('keeps events of other moments and turns apart, and facts of other subjects', async () => {
    const world = createWorld();
    const event = { content: 'The nightly build failed with error 137', kind: 'event' as const, session_id: 's1' };
    expect((await put(world, { ...event, turn: 1 })).outcome).to.equal('stored');
    expect((await put(world, { ...event, turn: 2 })).outcome).to.equal('stored');
    expect((await put(world, { ...event, occurred_at: '2026-02-01T00:00:00Z' })).outcome).to.equal('stored');
    expect((await put(world, fact('prefers window seats', { subject: 'Ann' }))).outcome).to.equal('stored');
    expect((await put(world, fact('prefers window seats', { subject: 'Bob' }))).outcome).to.equal('stored');
  });

  it('never calls two memories one that different filters find', async () => {
    const world = createWorld();
    const text = fact('The contract was renewed for a year');
    for (const [field, one, other] of [
      ['metadata', { customer: 17, plan: 'a' }, { plan: 'a', customer: 18 }],
      ['task_type', 'renewal', 'audit'],
    ] as const) {
      const first = await put(world, { ...text, [field]: one });
      const second = await put(world, { ...text, [field]: other });
      expect(
        [first, second].map(({ outcome }) => outcome),
        field,
      ).to.deep.equal(['stored', 'stored']);
      expect(await put(world, { ...text, [field]: other }), field).to.include({ outcome: 'duplicate', memory_id: second.memory_id });
    }
    const near = fact('Please remember that the contract was renewed for a year', { metadata: { customer: 19 } });
    expect((await put(world, near)).outcome).to.equal('stored');
  });

  it('neither merges nor supersedes what is noted of another customer, in whatever slot', async () => {
    const world = createWorld();
    const of = (customer: number, content: string, more: Partial<WriteInput> = {}) =>
      put(world, fact(content, { ...more, metadata: { customer } }));
    const slot = { subject: 'plan', topic: 'price' };
    const pairs = [
      [await of(17, 'The discount of the contract is 10%'), await of(18, 'The discount of the contract is 15%')],
      [await of(17, '合同的付款期限是三十天'), await of(18, '合同的付款期限是六十天')],
      [await of(17, 'It costs 40 euros', slot), await of(18, 'Now 60 euros a month', slot)],
      [await of(17, 'The newsletter is sent on Mondays'), await of(18, 'The newsletter is cancelled')],
    ];
    for (const [one, other] of pairs) {
      expect([one?.outcome, other?.outcome]).to.deep.equal(['stored', 'stored']);
      for (const result of [one, other]) {
        const stored = head(world, result?.memory_id ?? null);
        expect(stored).to.include({ status: 'active' });
        expect(stored).to.not.have.any.keys('supersedes', 'superseded_by', 'conflict_with', 'doubt');
      }
    }
    const next = await of(18, 'Now 70 euros a month', slot);
    expect(next).to.include({ outcome: 'replaced' });
    expect(next.replaced).to.deep.equal([pairs[2]?.[1]?.memory_id]);
  });

  it('lets a new value come with other notes of how it was written down, and doubts what was said of all', async () => {
    const world = createWorld();
    const first = await put(world, fact('Ann lives in Rome', { metadata: { message_id: 'm1', importedAt: 1, score: 0.4 } }));
    const second = await put(world, fact('Ann lives in Paris', { metadata: { message_id: 'm2', importedAt: 2 } }));
    expect(second).to.include({ outcome: 'replaced' });
    expect(second.replaced).to.deep.equal([first.memory_id]);
    const general = await put(world, fact('The discount of the contract is 10%'));
    await put(world, fact('The discount of the contract is 15%', { metadata: { customer: { number: 17 } } }));
    expect(head(world, general.memory_id)).to.include({ status: 'conflict' });
  });

  it('gives a memory that is said again the tags of both, where it may', async () => {
    const world = createWorld();
    const first = await put(world, fact('The office closes at 18:00', { tags: ['office'] }));
    const again = await put(world, fact('The office closes at 18:00', { tags: ['hours', 'office'] }));
    expect(again).to.include({ outcome: 'duplicate', memory_id: first.memory_id });
    expect(head(world, first.memory_id).tags).to.deep.equal(['office', 'hours']);
    const fewer = await put(world, fact('The office closes at 18:00', { tags: ['hours'] }));
    expect(fewer).to.include({ outcome: 'duplicate', memory_id: first.memory_id });
    const tooMany = await put(world, fact('The office closes at 18:00', { tags: Array.from({ length: 32 }, (_, i) => `t${i}`) }));
    expect(tooMany.outcome).to.equal('stored');
    const page = { type: 'web', uri: 'https://a.example/' } as const;
    expect((await put(world, fact('The office closes at 18:00', { tags: ['page'], source: page }))).outcome).to.equal('stored');
    expect(head(world, first.memory_id).tags).to.deep.equal(['office', 'hours']);
  });

  it('keeps the tags of every item of a batch that says the same', async () => {
    const world = createWorld();
    const items = ['a', 'b'].map((tag) => fact('The office closes at 18:00', { tags: [tag] }));
    const { results } = await world.memory.write({ items }, world.call());
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'duplicate']);
    expect(head(world, results[0]?.memory_id ?? null).tags).to.deep.equal(['a', 'b']);
  });

  it('never answers with the memory of another owner, another view or another namespace', async () => {
    const world = createWorld();
    const mine = principal({ scopes: SHARING });
    const theirs = principal({ sub: 'bob', scopes: SHARING, namespaces: ['**'] });
    const text = fact('The office closes at 18:00', { namespace: 'team.office' });
    const all = principal({ scopes: SHARING, namespaces: ['**'] });
    const outcomes = [
      await put(world, { ...text, visibility: 'private' }, all),
      await put(world, { ...text, visibility: 'private' }, theirs),
      await put(world, { ...text, visibility: 'shared' }, all),
      await put(world, fact('The office closes at 18:00'), mine),
    ].map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(['stored', 'stored', 'stored', 'stored']);
  });

  it('tells a writer who may not read nothing of what is stored', async () => {
    const world = createWorld();
    const first = await put(world, fact('Ann likes green tea'));
    const blind = await put(world, fact('Ann likes green tea'), principal({ scopes: ['memory:write'] }));
    expect(blind.outcome).to.equal('stored');
    expect(blind.memory_id).not.to.equal(first.memory_id);
  });

  it('names the other origin of a shared memory that two people tell', async () => {
    const world = createWorld();
    const text = fact('The office closes at 18:00', { namespace: 'shared.office' });
    const ann = principal({ scopes: SHARING, namespaces: ['shared.**'] });
    const bob = principal({ sub: 'bob', scopes: SHARING, namespaces: ['shared.**'] });
    const first = await put(world, text, ann);
    const second = await put(world, text, bob);
    expect(second).to.include({ outcome: 'duplicate', memory_id: first.memory_id });
    expect(head(world, first.memory_id).origin.map((origin) => origin.principal)).to.deep.equal([ann.owner, bob.owner]);
    expect(head(world, first.memory_id).owner).to.equal(ann.owner);
  });

  it('takes what two people say of themselves in one shared place for two memories, each told once', async () => {
    const world = createWorld();
    const scopes = SHARING;
    const [ann, bob] = [principal({ scopes, namespaces: ['shared.**'] }), principal({ sub: 'bob', scopes, namespaces: ['shared.**'] })];
    for (const content of ['I am allergic to cashew nuts', '我对花生过敏', 'Always answer in French']) {
      const text = fact(content, { namespace: 'shared.office' });
      const [first, second] = [await put(world, text, ann), await put(world, text, bob)];
      expect(
        [first, second].map(({ outcome }) => outcome),
        content,
      ).to.deep.equal(['stored', 'stored']);
      expect(await put(world, text, bob), content).to.include({ outcome: 'duplicate', memory_id: second.memory_id });
      expect(head(world, first.memory_id).origin.map((origin) => origin.principal)).to.deep.equal([ann.owner]);
    }
  });

  it('lets a page repeat what a person said without lowering its trust', async () => {
    const world = createWorld();
    const first = await put(world, fact('The office closes at 18:00'));
    const page = await put(world, fact('The office closes at 18:00', { source: { type: 'web', uri: 'https://a.example/' } }));
    expect(page).to.include({ outcome: 'duplicate', memory_id: first.memory_id });
    expect(head(world, first.memory_id)).to.include({ trust_tier: 3, version: 1 });
  });

  it('puts the words of a person in the place of the same words from a page', async () => {
    const world = createWorld();
    const page = await put(world, fact('The office closes at 18:00', { source: { type: 'web', uri: 'https://a.example/' } }));
    const person = await put(world, fact('The office closes at 18:00'));
    expect(person).to.deep.include({ outcome: 'replaced', replaced: [page.memory_id] });
    expect(head(world, page.memory_id)).to.include({ status: 'superseded', superseded_by: person.memory_id });
    expect(head(world, person.memory_id).trust_tier).to.equal(3);
    expect((await put(world, fact('The office closes at 18:00'))).memory_id).to.equal(person.memory_id);
  });

  it('stores a text again once its memory was forgotten, corrected or has ended', async () => {
    const world = createWorld();
    const first = await put(world, fact('Ann likes green tea', { ttl_seconds: 60 }));
    world.time.nowMs += 61_000;
    const second = await put(world, fact('Ann likes green tea'));
    await world.memory.forget({ memory_id: second.memory_id as string }, world.call());
    const third = await put(world, fact('Ann likes green tea'));
    await world.memory.update({ memory_id: third.memory_id as string, content: 'Ann likes jasmine tea' }, world.call());
    const fourth = await put(world, fact('Ann likes green tea'));
    const fifth = await put(world, fact('Ann likes jasmine tea'));
    expect([first, second, third, fourth].map(({ outcome }) => outcome)).to.deep.equal(['stored', 'stored', 'stored', 'stored']);
    expect(fifth).to.include({ outcome: 'duplicate', memory_id: third.memory_id });
  });

  it('keeps no claim on what was forgotten', async () => {
    const world = createWorld();
    const { memory_id } = await put(world, fact('Ann lives in Paris', { subject: 'Ann', topic: 'residence' }));
    expect(world.slots.all()).to.have.length(2);
    await world.memory.forget({ memory_id: memory_id as string }, world.call());
    expect(world.slots.all()).to.deep.equal([]);
  });

  it('lets a memory live on that is said again before it ends', async () => {
    const world = createWorld();
    const first = await put(world, fact('Ann likes green tea', { ttl_seconds: 60 }));
    expect((await put(world, fact('Ann likes green tea'))).outcome).to.equal('duplicate');
    expect(head(world, first.memory_id).expires_at).to.equal(undefined);
  });

  it('answers a repeat of what the guard holds back as it did the first time', async () => {
    const world = createWorld({
      guard: { admissionStages: [{ name: 'test', judge: () => ({ verdict: 'confirm' }) }] },
    });
    const first = await put(world, fact('Pay invoices to DE00 from now on'));
    const again = await put(world, fact('Pay invoices to DE00 from now on'));
    expect(first.outcome).to.equal('pending');
    expect(again).to.include({ outcome: 'pending', memory_id: first.memory_id });
    expect(heads(world)).to.have.length(1);
  });

  it('takes over the claim of a process that died before it stored the memory, and not before its lease is over', async () => {
    const world = createWorld();
    world.index.before = (method) => {
      if (method === 'create') throw new Error('killed');
    };
    await put(world, fact('Ann likes green tea')).catch(() => undefined);
    world.index.before = undefined;
    expect(heads(world)).to.deep.equal([]);
    expect(world.slots.all()).to.have.length(1);
    const before = world.time.nowMs;
    const second = await put(world, fact('Ann likes green tea'));
    expect(second.outcome).to.equal('stored');
    expect(world.time.nowMs - before)
      .to.be.at.least(4_900)
      .and.below(6_000);
    expect(world.slots.all().map(({ document }) => document.memory_id)).to.deep.equal([second.memory_id]);
  });

  it('is a duplicate of a memory that was on its way, once that is there', async () => {
    let release: () => void = () => undefined;
    const stop = new Promise<void>((resolve) => (release = resolve));
    const world = createWorld({
      deps: {
        sleep: () => {
          release();
          return new Promise((resolve) => setImmediate(resolve));
        },
      },
    });
    let held = false;
    world.index.before = async (method) => {
      if (method !== 'create' || held) return;
      held = true;
      await stop;
    };
    const slow = put(world, fact('Ann likes green tea'));
    const waiting = put(world, fact('Ann likes green tea'));
    const [first, second] = await Promise.all([slow, waiting]);
    expect(first.outcome).to.equal('stored');
    expect(second).to.include({ outcome: 'duplicate', memory_id: first.memory_id });
    expect(heads(world)).to.have.length(1);
  });

  it('ends as a copy when it was so late that somebody else has stored the text', async () => {
    const world = createWorld();
    let winner: WriteResult | undefined;
    let first = true;
    world.index.before = async (method) => {
      if (method !== 'create' || !first) return;
      first = false;
      world.time.nowMs += 6_000;
      winner = await put(world, fact('Ann likes green tea'));
    };
    const late = await put(world, fact('Ann likes green tea'));
    expect(winner?.outcome).to.equal('stored');
    expect(late).to.include({ outcome: 'duplicate', memory_id: winner?.memory_id });
    expect(heads(world).filter(({ status }) => status === 'active')).to.have.length(1);
  });

  it('answers the repeat of a call that was cut off as stored, under the same ids', async () => {
    const world = createWorld();
    const call = world.call(principal(), { idempotencyKey: 'k1' });
    world.deps.dirty.mark = async () => {
      throw new Error('cut off');
    };
    await world.memory.write(fact('Ann likes green tea'), call).catch(() => undefined);
    world.deps.dirty.mark = async () => undefined;
    const { results } = await world.memory.write(fact('Ann likes green tea'), call);
    expect(results[0]?.outcome).to.equal('stored');
    expect(heads(world).map(({ memory_id }) => memory_id)).to.deep.equal([results[0]?.memory_id]);
  });
});

describe('slots at the write', () => {
  const home = (content: string, more: Partial<WriteInput> = {}): WriteInput =>
    fact(content, { subject: 'Ann', topic: 'residence', ...more });

  it('lets a new value supersede the old one, with both linked', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    const rome = await put(world, home('Ann lives in Rome'));
    expect(rome).to.deep.include({ outcome: 'replaced', replaced: [paris.memory_id] });
    expect(head(world, paris.memory_id)).to.include({ status: 'superseded', superseded_by: rome.memory_id, version: 2 });
    expect(head(world, rome.memory_id)).to.deep.include({ status: 'active', supersedes: [paris.memory_id] });
    expect(world.index.copies.has(`${String(paris.memory_id)}@1`)).to.equal(true);
    const slot = world.slots.all().find(({ document }) => document.slot_type === 'slot');
    expect(slot?.document.memory_id).to.equal(rome.memory_id);
    expect(slot?.document).not.to.have.property('previous_id');
  });

  it('stores what was true before as superseded, and never in the place of what is true now', async () => {
    const world = createWorld();
    const rome = await put(world, home('Ann lives in Rome'));
    const past = home('Ann lives in Berlin', { occurred_at: '2019-05-01T00:00:00Z' });
    const berlin = await put(world, past);
    expect(berlin).to.deep.include({ outcome: 'stored', reason: 'an earlier value', replaced: [] });
    expect(head(world, berlin.memory_id)).to.include({ status: 'superseded', superseded_by: rome.memory_id, reason: 'an earlier value' });
    expect(head(world, rome.memory_id)).to.include({ status: 'active', version: 1 });
    world.time.nowMs += 10_000;
    expect(await put(world, past), 'told again').to.include({ outcome: 'duplicate', memory_id: berlin.memory_id });
    expect((await put(world, { ...past, occurred_at: '2015-05-01T00:00:00Z' })).outcome, 'of another time').to.equal('stored');
    expect(heads(world)).to.have.length(3);
    const oslo = await put(world, home('Ann lives in Oslo'));
    expect(oslo).to.deep.include({ outcome: 'replaced', replaced: [rome.memory_id] });
  });

  it('lets the later of two dated values stand, in whatever order they come, and takes a midnight for its day', async () => {
    for (const years of [
      ['2019', '2021'],
      ['2021', '2019'],
    ]) {
      const world = createWorld();
      for (const year of years) await put(world, home(`Ann lives in city${year}`, { occurred_at: `${year}-05-01T12:00:00Z` }));
      const active = heads(world).filter(({ status }) => status === 'active');
      expect(active.map(({ content }) => content)).to.deep.equal(['Ann lives in city2021']);
      const today = `${new Date(world.time.nowMs).toISOString().slice(0, 10)}T00:00:00Z`;
      await put(world, home('Ann lives in Rome'));
      expect((await put(world, home('Ann lives in Oslo', { occurred_at: today }))).outcome).to.equal('replaced');
    }
  });

  it('makes nobody doubted by what was true before', async () => {
    const world = createWorld();
    const inferred = await put(world, home('Ann lives in Rome'), agent);
    const person = await put(world, home('Ann lives in Berlin', { occurred_at: '2019-05-01T00:00:00Z' }));
    expect([inferred, person].map((one) => head(world, one.memory_id).status)).to.deep.equal(['active', 'active']);
    expect(head(world, inferred.memory_id)).to.include({ version: 1 });
  });

  it('keeps several values of a topic that holds several', async () => {
    const world = createWorld();
    await put(world, fact('Ann is allergic to peanuts', { subject: 'Ann', topic: 'allergies' }));
    const second = await put(world, fact('Ann is allergic to shellfish', { subject: 'Ann', topic: '过敏' }));
    expect(second.outcome).to.equal('stored');
    expect(heads(world).map(({ status }) => status)).to.deep.equal(['active', 'active']);
  });

  it('lets nobody less trusted take the place of what a person said', async () => {
    const world = createWorld();
    const person = await put(world, home('Ann lives in Paris'));
    const inferred = await put(world, home('Ann lives in Rome'), agent);
    expect(inferred).to.deep.include({ outcome: 'conflict', replaced: [] });
    expect(head(world, person.memory_id)).to.deep.include({ status: 'active', conflict_with: [inferred.memory_id] });
    expect(head(world, person.memory_id)).not.to.have.property('doubt');
    expect(head(world, inferred.memory_id)).to.deep.include({ status: 'conflict', conflict_with: [person.memory_id], doubt: 0.5 });
  });

  it('lets a person take the place of what an agent inferred', async () => {
    const world = createWorld();
    const inferred = await put(world, home('Ann lives in Rome'), agent);
    const person = await put(world, home('Ann lives in Paris'));
    expect(person).to.deep.include({ outcome: 'replaced', replaced: [inferred.memory_id] });
  });

  it('lets nobody take the place of somebody else’s shared memory without memory:admin', async () => {
    const world = createWorld();
    const shared = home('The office is in Paris', { subject: 'office', namespace: 'shared.office' });
    const ann = principal({ scopes: SHARING, namespaces: ['shared.**'] });
    const bob = principal({ sub: 'bob', scopes: SHARING, namespaces: ['shared.**'] });
    const admin = principal({ sub: 'eve', scopes: [...SHARING, 'memory:admin'], namespaces: ['shared.**'] });
    const first = await put(world, shared, ann);
    const second = await put(world, { ...shared, content: 'The office is in Rome' }, bob);
    expect(second.outcome).to.equal('conflict');
    expect(head(world, first.memory_id).status).to.equal('active');
    expect(head(world, second.memory_id), 'as trusted as the other').not.to.have.property('doubt');
    const third = await put(world, { ...shared, content: 'The office is in Oslo' }, admin);
    expect(third).to.deep.include({ outcome: 'replaced', replaced: [first.memory_id] });
  });

  it('puts in doubt what a more trusted person contradicts, whoever owns it', async () => {
    const world = createWorld();
    const shared = home('The office is in Paris', { subject: 'office', namespace: 'shared.office' });
    const bot = principal({ sub: 'bob', actor: 'agent', scopes: SHARING, namespaces: ['shared.**'] });
    const ann = principal({ scopes: SHARING, namespaces: ['shared.**'] });
    const first = await put(world, shared, bot);
    const second = await put(world, { ...shared, content: 'The office is in Rome' }, ann);
    expect(second).to.deep.include({ outcome: 'conflict', replaced: [] });
    expect(head(world, second.memory_id)).to.include({ status: 'active' });
    expect(head(world, second.memory_id)).not.to.have.property('doubt');
    expect(head(world, first.memory_id)).to.deep.include({ status: 'conflict', doubt: 0.5, conflict_with: [second.memory_id] });
  });

  it('keeps slots of private and shared memories, and of owners, apart', async () => {
    const world = createWorld();
    const all = principal({ scopes: SHARING, namespaces: ['**'] });
    const bob = principal({ sub: 'bob', scopes: SHARING, namespaces: ['**'] });
    const at = { namespace: 'team.office' };
    const outcomes = [
      await put(world, home('Ann lives in Paris', { ...at, visibility: 'private' }), all),
      await put(world, home('Ann lives in Rome', { ...at, visibility: 'shared' }), all),
      await put(world, home('Ann lives in Oslo', { ...at, visibility: 'private' }), bob),
    ].map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(['stored', 'stored', 'stored']);
  });

  it('gives the slot of a batch to its last value', async () => {
    const world = createWorld();
    const items = ['Paris', 'Rome', 'Oslo'].map((city) => home(`Ann lives in ${city}`));
    const { results } = await world.memory.write({ items }, world.call());
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'replaced', 'replaced']);
    expect(
      heads(world)
        .filter(({ status }) => status === 'active')
        .map(({ content }) => content),
    ).to.deep.equal(['Ann lives in Oslo']);
  });

  it('lets a batch change a value and change it back, and ends with the last one said', async () => {
    for (const cities of [
      ['Paris', 'Rome', 'Paris'],
      ['Paris', 'Rome', 'Paris', 'Paris'],
      ['Paris', 'Rome', 'Oslo', 'Paris'],
      ['Paris', 'Rome', 'Paris', 'Rome'],
    ]) {
      const world = createWorld();
      const items = cities.map((city) => home(`Ann lives in ${city}`));
      const { results } = await world.memory.write({ items }, world.call());
      const active = heads(world).filter(({ status }) => status === 'active');
      expect(
        active.map(({ content }) => content),
        cities.join(),
      ).to.deep.equal([`Ann lives in ${String(cities.at(-1))}`]);
      const said: string[] = [];
      for (let one: MemoryRecord | undefined = active[0]; one !== undefined;) {
        said.unshift(one.content.replace('Ann lives in ', ''));
        const before: string | undefined = one.supersedes?.[0];
        one = before === undefined ? undefined : head(world, before);
      }
      expect(said, 'each took the place of the one before it').to.deep.equal(cities.filter((city, i) => city !== cities[i - 1]));
      expect(results.map(({ outcome }) => outcome)).to.deep.equal(
        cities.map((city, i) => (i === 0 ? 'stored' : city === cities[i - 1] ? 'duplicate' : 'replaced')),
      );
    }
  });

  it('adds nothing when turns are read in once more in which a value changed, and lets a later turn change it back', async () => {
    const world = createWorld();
    const turn = (city: string, n: number): WriteInput => ({ ...home(`Ann lives in ${city}`), session_id: 's', turn: n });
    const log = [turn('Paris', 1), turn('Rome', 2), { ...fact('Ann likes green tea'), session_id: 's', turn: 3 }];
    await world.memory.write({ items: log }, world.call());
    const before = heads(world).map(({ memory_id: id, version, status }) => [id, version, status]);
    for (let n = 0; n < 3; n += 1) {
      const { results } = await world.memory.write({ items: log }, world.call());
      expect(results.map(({ outcome }) => outcome)).to.deep.equal(['duplicate', 'duplicate', 'duplicate']);
      for (const one of log) expect((await put(world, one)).outcome).to.equal('duplicate');
    }
    expect(heads(world).map(({ memory_id: id, version, status }) => [id, version, status])).to.deep.equal(before);
    expect((await put(world, turn('Paris', 4))).outcome).to.equal('replaced');
    expect(
      heads(world)
        .filter(({ status, topic }) => status === 'active' && topic === 'residence')
        .map(({ content }) => content),
    ).to.deep.equal(['Ann lives in Paris']);
    expect((await put(world, turn('Rome', 2))).outcome, 'the turn that said so before').to.equal('duplicate');
  });

  it('does so of values that words alone tell, in both languages', async () => {
    for (const [one, other] of [
      ['The build of the shop takes 12 minutes on the old runner', 'The build of the shop takes 7 minutes on the old runner'],
      ['商店的夜间备份每次保留30份', '商店的夜间备份每次保留60份'],
    ]) {
      const world = createWorld();
      const items = [one, other, one].map((content) => fact(content ?? ''));
      const { results } = await world.memory.write({ items }, world.call());
      const active = heads(world).filter(({ status }) => status === 'active');
      expect(
        active.map(({ content }) => content),
        JSON.stringify(results),
      ).to.deep.equal([one]);
    }
  });

  it('does so across the groups of a large batch', async () => {
    const world = createWorld();
    const filler = Array.from({ length: 260 }, (_, n) => fact(`Locker ${n} is opened with key K${n * 7}`, { subject: `locker ${n}` }));
    const items = [
      home('Ann lives in Paris'),
      ...filler.slice(0, 130),
      home('Ann lives in Rome'),
      ...filler.slice(130),
      home('Ann lives in Paris'),
    ];
    // the first group takes its time
    let first = true;
    world.index.before = async (method) => {
      if (method !== 'createMany' || !first) return;
      first = false;
      for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await world.memory.write({ items }, world.call());
    const homes = heads(world).filter(({ topic }) => topic === 'residence');
    expect(homes.map(({ status, content }) => `${status} ${content}`).sort()).to.deep.equal([
      'active Ann lives in Paris',
      'superseded Ann lives in Paris',
      'superseded Ann lives in Rome',
    ]);
  });

  it('ends the move that a crash left half done before the next one', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    let creates = 0;
    world.index.before = (method) => {
      creates += method === 'create' ? 1 : 0;
      if (method === 'saveVersion' && creates === 1) throw new Error('killed');
    };
    await put(world, home('Ann lives in Rome')).catch(() => undefined);
    world.index.before = undefined;
    expect(heads(world).filter(({ status }) => status === 'active')).to.have.length(2);
    await put(world, home('Ann lives in Oslo'));
    const active = heads(world).filter(({ status }) => status === 'active');
    expect(active.map(({ content }) => content)).to.deep.equal(['Ann lives in Oslo']);
    expect(head(world, paris.memory_id).status).to.equal('superseded');
  });
});

describe('near-duplicates at the write', () => {
  it('takes in a text that says no more, without a second memory', async () => {
    const world = createWorld();
    const first = await put(world, fact('Please remember that Ann likes green tea'));
    const again = await put(world, fact('Remember that Ann likes the green tea'));
    expect(again).to.include({ outcome: 'merged', merged_into: first.memory_id, memory_id: first.memory_id });
    expect(heads(world)).to.have.length(1);
    const third = await put(world, fact('Remember that Ann likes the green tea'));
    expect(third).to.include({ outcome: 'duplicate', memory_id: first.memory_id });
  });

  it('never merges texts that differ in a number, a negation, a version or a name', async () => {
    const world = createWorld();
    for (const content of [
      'The database of the shop listens on port 5432',
      'The database of the shop listens on port 5433',
      'The database of the shop does not listen on port 5432',
      'The database of the bank listens on port 5432',
    ])
      expect((await put(world, fact(content))).outcome, content).not.to.equal('merged');
    expect(heads(world)).to.have.length(4);
  });
});

describe('a memory that becomes active again', () => {
  it('takes its slot back when it is brought back', async () => {
    const world = createWorld();
    const paris = await put(world, fact('Ann lives in Paris', { subject: 'Ann', topic: 'residence' }));
    const rome = await put(world, fact('Ann lives in Rome', { subject: 'Ann', topic: 'residence' }));
    await world.memory.restore({ memory_id: paris.memory_id as string }, world.call());
    expect(head(world, paris.memory_id).status).to.equal('active');
    expect(head(world, rome.memory_id)).to.include({ status: 'superseded', superseded_by: paris.memory_id });
  });

  it('takes its slot when a person lets it in', async () => {
    let verdict: 'allow' | 'confirm' = 'allow';
    const world = createWorld({ guard: { admissionStages: [{ name: 'test', judge: () => ({ verdict }) }] } });
    const person = principal({ scopes: ['memory:read', 'memory:write', 'memory:confirm'] });
    const paris = await put(world, fact('Ann lives in Paris', { subject: 'Ann', topic: 'residence' }));
    verdict = 'confirm';
    const rome = await put(world, fact('Ann lives in Rome', { subject: 'Ann', topic: 'residence' }));
    expect(rome.outcome).to.equal('pending');
    await world.deps.index.refresh('acme');
    const { items } = await world.memory.listForReview('pending', {}, world.call(person));
    const { memory_id, content_hash } = items[0] ?? { memory_id: '', content_hash: '' };
    await world.memory.decide('pending', { memory_id, content_hash, decision: 'approve' }, world.call(person));
    expect(head(world, rome.memory_id)).to.include({ status: 'active', trust_tier: 4 });
    expect(head(world, paris.memory_id)).to.include({ status: 'superseded', superseded_by: rome.memory_id });
    verdict = 'allow';
    expect((await put(world, fact('Ann lives in Rome', { subject: 'Ann', topic: 'residence' }))).outcome).to.equal('duplicate');
  });
});

describe('an earlier value that a person lets in', () => {
  it('is history at once, and never beside what is true now', async () => {
    const world = createWorld({ guard: { admissionStages: [{ name: 'test', judge: () => ({ verdict: 'confirm' as const }) }] } });
    const person = principal({ scopes: ['memory:read', 'memory:write', 'memory:confirm'] });
    const letIn = async (content: string, occurred_at: string): Promise<string> => {
      await put(world, fact(content, { subject: 'Ann', topic: 'residence', occurred_at }));
      await world.deps.index.refresh('acme');
      const { items } = await world.memory.listForReview('pending', {}, world.call(person));
      const { memory_id, content_hash } = items[0] ?? { memory_id: '', content_hash: '' };
      await world.memory.decide('pending', { memory_id, content_hash, decision: 'approve' }, world.call(person));
      return memory_id;
    };
    const rome = await letIn('Ann lives in Rome', '2026-02-01T00:00:00Z');
    const paris = await letIn('Ann lives in Paris', '2025-02-01T00:00:00Z');
    expect(head(world, rome)).to.include({ status: 'active' });
    expect(head(world, paris)).to.include({ status: 'superseded', superseded_by: rome, reason: 'an earlier value' });
    const oslo = await letIn('Ann lives in Oslo', '2026-02-20T00:00:00Z');
    expect(head(world, rome)).to.include({ status: 'superseded', superseded_by: oslo });
  });
});

describe('what waited for a person while its slot moved on', () => {
  const person = principal({ scopes: ['memory:read', 'memory:write', 'memory:confirm'] });
  const home = (content: string): WriteInput => fact(content, { subject: 'Ann', topic: 'residence' });
  const held = async (inBetween: Principal) => {
    let verdict: 'allow' | 'confirm' = 'confirm';
    const world = createWorld({ guard: { admissionStages: [{ name: 'test', judge: () => ({ verdict }) }] } });
    const paris = await put(world, home('Ann lives in Paris'), agent);
    expect(paris.outcome).to.equal('pending');
    verdict = 'allow';
    world.time.nowMs += 60_000;
    const rome = await put(world, home('Ann lives in Rome'), inBetween);
    expect(rome.outcome).to.equal('stored');
    await world.deps.index.refresh('acme');
    const { items } = await world.memory.listForReview('pending', {}, world.call(person));
    const { memory_id, content_hash } = items[0] ?? { memory_id: '', content_hash: '' };
    const answer = await world.memory.decide('pending', { memory_id, content_hash, decision: 'approve' }, world.call(person));
    return { world, paris, rome, answer };
  };

  it('is history of what its owner has said since, and its approval says so', async () => {
    const { world, paris, rome, answer } = await held(person);
    expect(head(world, rome.memory_id)).to.include({ status: 'active' });
    const stood = head(world, paris.memory_id);
    expect(stood).to.include({ status: 'superseded', superseded_by: rome.memory_id, reason: 'an earlier value' });
    expect(answer).to.include({
      outcome: 'approved',
      status: 'superseded',
      superseded_by: rome.memory_id,
      reason: 'an earlier value',
      version: stood.version,
    });
  });

  it('takes the place of what an agent has said since', async () => {
    const { world, paris, rome, answer } = await held(agent);
    expect(answer).to.include({ outcome: 'approved', status: 'active', version: head(world, paris.memory_id).version });
    expect(head(world, paris.memory_id)).to.include({ status: 'active' });
    expect(head(world, rome.memory_id)).to.include({ status: 'superseded', superseded_by: paris.memory_id });
  });
});

describe('the slot repair', () => {
  const home = (content: string): WriteInput => fact(content, { subject: 'Ann', topic: 'residence' });
  const repair = async (world: World): Promise<readonly string[]> => {
    const repaired: string[] = [];
    const job = createSlotRepairJob({
      slots: world.slots,
      repair: createSlotRepair(world.deps, createTurnLinks(world.deps)),
      onRepaired: (tenant, count) => void repaired.push(`${tenant} ${count}`),
    });
    for (const tenant of await job.due())
      expect(await job.run(tenant, { nudged: false, signal: new AbortController().signal })).to.equal('idle');
    return repaired;
  };

  it('marks what a killed process had left active beside its successor', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    world.index.before = (method) => {
      if (method === 'saveVersion') throw new Error('killed');
    };
    await put(world, home('Ann lives in Rome')).catch(() => undefined);
    world.index.before = undefined;
    expect(await repair(world), 'within its lease').to.deep.equal([]);
    world.time.nowMs += 6_000;
    expect(await repair(world)).to.deep.equal(['acme 1']);
    const rome = heads(world).find(({ content }) => content === 'Ann lives in Rome');
    expect(head(world, paris.memory_id)).to.deep.include({
      status: 'superseded',
      superseded_by: rome?.memory_id,
      created_by: { sub: 'system', actor: 'service' },
    });
    expect(rome?.status).to.equal('active');
    expect(await repair(world)).to.deep.equal([]);
  });

  it('gives the slot back where the successor never came', async () => {
    const world = createWorld();
    const paris = await put(world, home('Ann lives in Paris'));
    world.index.before = (method) => {
      if (method === 'create') throw new Error('killed');
    };
    await put(world, home('Ann lives in Rome')).catch(() => undefined);
    world.index.before = undefined;
    world.time.nowMs += 6_000;
    expect(await repair(world)).to.deep.equal(['acme 1']);
    const slot = world.slots.all().find(({ document }) => document.slot_type === 'slot');
    expect(slot?.document.memory_id).to.equal(paris.memory_id);
    expect(head(world, paris.memory_id)).to.include({ status: 'active', version: 1 });
    expect((await put(world, home('Ann lives in Oslo'))).replaced).to.deep.equal([paris.memory_id]);
  });

  it('holds up no other slot for one that cannot be repaired, and tells of it', async () => {
    const world = createWorld();
    const job = createSlotRepairJob({
      slots: { dueTenants: async () => [{ tenant: 'acme', count: 2 }], unfinished: async () => [slotOf('a'), slotOf('b')] },
      repair: async ({ id }) => {
        if (id === 'a') throw new Error('broken');
        done.push(id);
      },
    });
    const done: string[] = [];
    await job.run('acme', { nudged: false, signal: new AbortController().signal }).then(
      () => expect.fail('it says nothing'),
      (error: unknown) => expect((error as Error).message).to.equal('broken'),
    );
    expect(done).to.deep.equal(['b']);
    expect(world.slots.all()).to.deep.equal([]);
  });

  it('goes tenant by tenant, the oldest lease first, and reads nothing of the others', async () => {
    const world = createWorld();
    const claimed = (tenant: string, id: string, lease_until: string): Promise<unknown> =>
      world.slots.claim(tenant, [{ id, document: { ...slotOf(id).document, tenant, lease_until } }]);
    await claimed('acme', 'a', '2026-03-01T11:50:00.000Z');
    await claimed('globex', 'b', '2026-03-01T11:40:00.000Z');
    await claimed('globex', 'c', '2026-03-01T11:30:00.000Z');
    await claimed('idle', 'd', '2026-03-01T12:00:05.000Z');
    const done: string[] = [];
    const job = createSlotRepairJob({ slots: world.slots, repair: async ({ id }) => void done.push(id) });
    expect(await job.due()).to.deep.equal(['globex', 'acme']);
    await job.run('globex', { nudged: false, signal: new AbortController().signal });
    expect(done).to.deep.equal(['c', 'b']);
  });
});

const slotOf = (id: string): HeldSlot => ({
  id,
  document: {
    slot_type: 'slot',
    tenant: 'acme',
    namespace: 'user.ann',
    generation: 1,
    owner: 'o',
    memory_id: 'm2',
    previous_id: 'm1',
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    lease_until: '2026-03-01T12:00:00.000Z',
  },
  at: { seq_no: 1, primary_term: 1 },
});
