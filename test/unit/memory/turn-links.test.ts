/** What a turn borrows from the one before it: linked whatever the order, and never left with words that no longer stand. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createTurnRepair } from '../../../src/jobs/turn-repair.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';

const head = (world: World, id: string): MemoryRecord => {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error('no such head');
  return found;
};
const write = async (world: World, turn: number, content: string, more: object = {}, by?: Principal): Promise<string> =>
  (await world.memory.write({ content, session_id: 's', turn, admission: 'keep', ...more }, world.call(by))).results[0]?.memory_id ?? '';

/** The repair job over the world's index, as a worker would run it. */
const repairAll = (world: World): Promise<'more' | 'idle'> =>
  createTurnRepair({
    turns: {
      left: async () =>
        [...world.index.heads.values()]
          .map(({ record }) => record)
          .filter((r) => r.prev_turn_id === 'detached' && Date.parse(r.lease_until ?? '1970') <= world.time.nowMs),
    },
    repair: (turn) => createTurnLinks(world.deps).repair(turn),
  }).run('*', { nudged: false, signal: new AbortController().signal });

/** From the k-th call on the store is away: what a crash at that point leaves. The answer tells whether it came to that. */
const dieAt = (world: World, k: number): (() => boolean) => {
  let calls = 0;
  world.index.before = () => {
    calls += 1;
    if (calls >= k) throw new HindsightError('ERR_STORE_UNAVAILABLE');
  };
  return () => calls >= k;
};

const OLD = 'confidential';

describe('the turn after one that changes or goes', () => {
  const changes = {
    'a correction': (world: World, memory_id: string) => world.memory.update({ memory_id, content: 'public' }, world.call()),
    'an invalidation': (world: World, memory_id: string) => world.memory.update({ memory_id, invalid: true }, world.call()),
    forgetting: (world: World, memory_id: string) => world.memory.forget({ memory_id }, world.call()),
  };

  for (const [name, change] of Object.entries(changes)) {
    it(`holds no words that no longer stand, wherever ${name} is cut off, and gets what it may borrow by the repair`, async () => {
      let finished = false;
      let halfway = 0;
      for (let k = 1; !finished; k += 1) {
        expect(k, 'crash points').to.be.below(60);
        const world = createWorld();
        const [first, second] = [await write(world, 1, OLD), await write(world, 2, 'yes')];
        expect(head(world, second).lex_context).to.equal('confidenti ye');
        const died = dieAt(world, k);
        await change(world, first).catch(() => undefined);
        finished = !died();
        world.index.before = undefined;
        const changed = head(world, first).version > 1;
        const context = head(world, second).lex_context ?? '';
        if (changed) expect(context, `crash at call ${k}`).not.to.include('confidenti');
        if (head(world, second).prev_turn_id === 'detached') {
          halfway += 1;
          expect(context).to.equal('ye');
          expect(head(world, second).spaces_due, 'its vector is made again').to.deep.equal(['zh', 'en']);
          await repairAll(world);
          expect(head(world, second).prev_turn_id, 'too early: the one who did this may still be at it').to.equal('detached');
          world.time.nowMs += 61_000;
          await repairAll(world);
        }
        const now = head(world, first);
        const wanted = now.version === 1 ? 'confidenti ye' : now.status === 'active' ? 'public ye' : 'ye';
        expect(head(world, second).lex_context, `crash at call ${k}`).to.equal(wanted);
        expect(head(world, second).prev_turn_id).to.equal(now.status === 'active' ? first : undefined);
      }
      expect(halfway, 'crash points that left the turn cut loose').to.be.greaterThan(0);
    });
  }

  it('is found in every status and visibility, expired ones too, and however many there are', async () => {
    const world = createWorld();
    const ann = principal({ namespaces: ['team.x'], scopes: ['memory:read', 'memory:write', 'memory:forget', 'memory:share'] });
    const chief = principal({ sub: 'carl', namespaces: ['team.x'], scopes: ['memory:read', 'memory:forget', 'memory:admin'] });
    const first = await write(world, 1, OLD, { namespace: 'team.x' }, ann);
    const after = (['active', 'superseded', 'archived', 'candidate', 'quarantined', 'rejected', 'forgotten'] as const).map((status) =>
      memoryRecord({ status, visibility: 'private' }),
    );
    after.push(memoryRecord({ expires_at: '2026-01-01T00:00:00.000Z' }), memoryRecord({ visibility: 'shared' }));
    for (const record of after)
      world.index.plant({
        ...record,
        namespace: 'team.x',
        session_id: 's',
        turn: 2,
        content: 'yes',
        lex_context: 'confidenti ye',
        prev_turn_id: first,
        vec_en: [1],
      });
    await world.memory.forget({ memory_id: first }, world.call(chief));
    expect(head(world, first).status).to.equal('forgotten');
    for (const { memory_id, status, expires_at } of after) {
      const record = head(world, memory_id);
      expect(record.lex_context, `${status} ${expires_at ?? ''}`).to.equal('ye');
      expect(record, status).not.to.have.any.keys('vec_en', 'prev_turn_id');
      expect(record.spaces_due, 'vectors where somebody searches').to.deep.equal(
        ['active', 'superseded', 'archived'].includes(status) ? ['zh', 'en'] : [],
      );
    }
  });

  it('is not given words by one that is less trusted, of another owner or more private', async () => {
    const world = createWorld();
    const first = await write(world, 1, 'tea');
    const others = [{ trust_tier: 4 }, { owner: 'bob', visibility: 'shared' as const }, { visibility: 'shared' as const }];
    const planted = others.map((fields) => memoryRecord({ session_id: 's', turn: 2, content: 'yes', lex_context: 'ye', ...fields }));
    planted.forEach((record) => world.index.plant(record));
    await world.memory.update({ memory_id: first, content: 'coffee' }, world.call());
    for (const { memory_id } of planted)
      expect(head(world, memory_id)).to.include({ lex_context: 'ye' }).and.not.have.property('prev_turn_id');
  });

  it('keeps none of its words in version copies', async () => {
    const world = createWorld();
    const [, second] = [await write(world, 1, OLD), await write(world, 2, 'yes')];
    await world.memory.update({ memory_id: second, content: 'no, never' }, world.call());
    const copy = world.index.copies.get(`${second}@1`);
    expect(copy).to.include({ lex_context: 'ye' }).and.not.have.property('prev_turn_id');
    expect(head(world, second).lex_context).to.equal('confidenti never');
  });

  it('written while that one is forgotten, or corrected, ends without the old words', async () => {
    for (const change of [changes.forgetting, changes['a correction']]) {
      const world = createWorld();
      const first = await write(world, 1, OLD);
      world.index.before = async (method) => {
        if (method !== 'create') return;
        world.index.before = undefined;
        await change(world, first);
      };
      const second = await write(world, 2, 'yes');
      expect(head(world, second).lex_context).to.equal(head(world, first).status === 'active' ? 'public ye' : 'ye');
    }
  });

  it('forgotten in one go with the whole session keeps no borrowed words for a restore', async () => {
    const world = createWorld();
    const ids = [await write(world, 1, OLD), await write(world, 2, 'yes'), await write(world, 3, 'no way')];
    const dry = await world.memory.forget({ filter: { session_id: 's' }, dry_run: true }, world.call());
    expect(await world.memory.forget({ plan: dry.plan ?? '' }, world.call())).to.include({ forgotten: 3 });
    expect(ids.map((id) => head(world, id).status)).to.deep.equal(['forgotten', 'forgotten', 'forgotten']);
    expect(ids.map((id) => head(world, id).lex_context)).to.deep.equal(['confidenti', 'ye', 'wai']);
  });

  it('that somebody corrected after the dry run stays, and keeps no words of the one that goes', async () => {
    const world = createWorld();
    const [first, second] = [await write(world, 1, OLD), await write(world, 2, 'yes')];
    const dry = await world.memory.forget({ filter: { session_id: 's' }, dry_run: true }, world.call());
    world.index.before = async (method) => {
      if (method !== 'replace') return;
      world.index.before = undefined;
      await world.memory.update({ memory_id: second, content: 'no, never' }, world.call());
    };
    const answer = await world.memory.forget({ plan: dry.plan ?? '' }, world.call());
    expect([answer.forgotten, answer.skipped?.map(({ memory_id: id }) => id)]).to.deep.equal([1, [second]]);
    expect([first, second].map((id) => head(world, id).status)).to.deep.equal(['forgotten', 'active']);
    expect(head(world, second).lex_context).to.equal('never');
  });
});

describe('a turn that waited for a person', () => {
  const HELD = 'transfer';
  const holding = (verdict: 'confirm' | 'quarantine'): World =>
    createWorld({
      guard: {
        admissionStages: [
          { name: 'test', judge: ({ content }, _context, sofar) => (content.includes(HELD) ? { ...sofar, verdict } : sofar) },
        ],
      },
    });
  const person = principal({ scopes: ['memory:read', 'memory:write', 'memory:confirm'] });
  const approve = async (world: World, state: 'pending' | 'quarantined', memory_id: string): Promise<void> => {
    const { items } = await world.memory.listForReview(state, {}, world.call(person));
    const content_hash = items.find((item) => item.memory_id === memory_id)?.content_hash ?? '';
    await world.memory.decide(state, { memory_id, decision: 'approve', content_hash }, world.call(person));
  };

  for (const [state, verdict] of [
    ['pending', 'confirm'],
    ['quarantined', 'quarantine'],
  ] as const) {
    it(`lends its words to the turns after it once it is let in (${state})`, async () => {
      const world = holding(verdict);
      const first = await write(world, 1, `${HELD} tuesday`);
      const [second, third] = [await write(world, 2, 'yes'), await write(world, 3, 'fine')];
      expect(head(world, second)).to.include({ lex_context: 'ye' }).and.not.have.property('prev_turn_id');
      world.index.plant({ ...head(world, second), vec_en: [1], spaces_due: [] });
      await approve(world, state, first);
      expect(head(world, first)).to.include({ status: 'active', trust_tier: 4 });
      expect(head(world, second)).to.include({ prev_turn_id: first, lex_context: 'transfer tuesdai ye' });
      expect(head(world, second), 'its vector is of other words').not.to.have.property('vec_en');
      expect(head(world, second).spaces_due).to.deep.equal(['zh', 'en']);
      expect(head(world, third).prev_turn_id, 'no other is touched').to.equal(second);
      expect(head(world, third).version).to.equal(1);
    });
  }

  it('gives back what it borrowed from a turn that is now less trusted than it', async () => {
    const world = holding('confirm');
    const [first, second] = [await write(world, 1, 'payday'), await write(world, 2, `${HELD} it`)];
    expect(head(world, second)).to.include({ prev_turn_id: first, status: 'pending', lex_context: 'paydai transfer' });
    world.index.plant({ ...head(world, second), vec_en: [1], spaces_due: [] });
    await approve(world, 'pending', second);
    expect(head(world, second)).to.include({ status: 'active', lex_context: 'transfer' });
    expect(head(world, second)).not.to.have.any.keys('prev_turn_id', 'vec_en');
    expect(head(world, second).spaces_due).to.deep.equal(['zh', 'en']);
  });

  it('keeps what it borrowed when its user agreed to it at the tier of the turn before', async () => {
    const world = holding('confirm');
    const [first, second] = [await write(world, 1, 'payday'), await write(world, 2, `${HELD} it`)];
    const held = await world.memory.heldBack(second, world.call());
    const answer = {
      memory_id: second,
      decision: 'approve',
      content_hash: held?.content_hash ?? '',
      seen: 'whole',
      leg: 'session',
    } as const;
    const third = await write(world, 3, 'yes');
    await world.memory.acknowledge(answer, world.call());
    expect(head(world, second)).to.include({ status: 'active', trust_tier: 3, prev_turn_id: first, lex_context: 'paydai transfer' });
    expect(head(world, third)).to.include({ prev_turn_id: second, lex_context: 'transfer ye' });
  });

  it('lends nothing when it is turned down', async () => {
    const world = holding('confirm');
    const [first, second] = [await write(world, 1, `${HELD} it`), await write(world, 2, 'yes')];
    const { items } = await world.memory.listForReview('pending', {}, world.call(person));
    const content_hash = items[0]?.content_hash ?? '';
    await world.memory.decide('pending', { memory_id: first, decision: 'reject', content_hash }, world.call(person));
    expect(head(world, second)).to.include({ lex_context: 'ye', version: 1 }).and.not.have.property('prev_turn_id');
  });
});

describe('turns written out of order', () => {
  it('are linked when the earlier one comes later, in this process or in another', async () => {
    const world = createWorld();
    const fifth = await write(world, 5, 'five');
    const fourth = await write(world, 4, 'four');
    expect(head(world, fourth)).to.include({ next_turn_id: fifth });
    expect(head(world, fifth)).to.deep.include({ prev_turn_id: fourth, lex_context: 'four five', spaces_due: ['zh', 'en'] });
    const other = createWorld({ deps: { index: world.index, dirty: world.deps.dirty, newId: world.deps.newId } });
    const third = (await other.memory.write({ content: 'three', session_id: 's', turn: 3, admission: 'keep' }, other.call())).results[0]
      ?.memory_id;
    expect(head(world, fourth)).to.include({ prev_turn_id: third, lex_context: 'three four' });
    expect(head(world, fifth).prev_turn_id, 'a link that stands is left alone').to.equal(fourth);
  });

  it('are linked when both come at the same time', async () => {
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const world = createWorld();
      const ids = new Map<number, string>();
      await Promise.all(order.map(async (turn) => ids.set(turn, await write(world, turn, `turn${turn}`))));
      expect(head(world, ids.get(2) ?? '').prev_turn_id).to.equal(ids.get(1));
    }
  });

  it('are linked across a gap in a batch', async () => {
    const world = createWorld();
    const middle = await write(world, 6, 'six');
    const { results } = await world.memory.write(
      { items: [5, 7].map((turn) => ({ content: `turn${turn}`, session_id: 's', turn, admission: 'keep' as const })) },
      world.call(),
    );
    const [before, after] = results.map((r) => r.memory_id ?? '');
    expect(head(world, middle).prev_turn_id).to.equal(before);
    expect(head(world, after ?? '').prev_turn_id).to.equal(middle);
  });

  it('borrow nothing from a turn of their batch that the store refused', async () => {
    const world = createWorld();
    const createMany = world.index.createMany.bind(world.index);
    world.index.createMany = async (boxes) => [{ outcome: 'failed', reason: 'refused' }, ...(await createMany(boxes.slice(1)))];
    const { results } = await world.memory.write(
      { items: [1, 2].map((turn) => ({ content: `turn${turn}`, session_id: 's', turn, admission: 'keep' as const })) },
      world.call(),
    );
    expect(head(world, results[1]?.memory_id ?? ''))
      .to.include({ lex_context: 'turn2' })
      .and.not.have.property('prev_turn_id');
  });

  it('do not search for a neighbour when a conversation runs in order', async () => {
    const world = createWorld();
    await write(world, 0, 'zero');
    world.index.calls.length = 0;
    await write(world, 1, 'one');
    await write(world, 2, 'two');
    expect(world.index.calls).not.to.include.members(['list']);
    expect(world.index.calls.filter((call) => call === 'get').length).to.be.at.most(4);
    // nor when the turn before may lend nothing, as an agent's to a person's
    await write(world, 3, 'three', {}, principal({ actor: 'agent' }));
    world.index.calls.length = 0;
    await write(world, 4, 'four');
    expect(world.index.calls).to.deep.equal(['get', 'create']);
  });
});
