import { expect } from 'chai';
import type { MemoryRecord } from '../../../../src/domain/memory.ts';
import type { FeedbackInput } from '../../../../src/domain/wire/feedback.ts';
import { createWorld, type World } from '../../../support/memory-world.ts';
import { principal } from '../../../support/principals.ts';
import { memoryRecord } from '../../../support/records.ts';
import { rejection } from '../../../support/rejection.ts';

const shared = { namespace: 'shared.team', visibility: 'shared' } as const;
const agent = principal({ actor: 'agent' });
const bob = (actor: 'user' | 'agent' = 'user', sub = 'bob') => principal({ sub, actor, namespaces: ['shared.**'] });

function plant(world: World, fields: Partial<MemoryRecord> = {}): MemoryRecord {
  const record = memoryRecord({ lex_uni: 'drink', fingerprint: fields.content ?? 'f', ...fields });
  world.index.plant(record);
  return record;
}
const head = (world: World, id: string) => world.index.heads.get(id)?.record;
const give = (world: World, input: FeedbackInput, by = principal()) => world.memory.feedback(input, world.call(by));
const order = async (world: World, more: object = {}, by = principal()) =>
  (await world.memory.search({ query: 'drink', ...more }, world.call(by))).hits;

describe('memory feedback', () => {
  it('moves the rank of the next search, up and down, and tells it in the explanation', async () => {
    const world = createWorld();
    const [tea, coffee] = [plant(world, { ...shared, content: 'drink tea' }), plant(world, { ...shared, content: 'drink coffee' })];
    const places = { namespaces: ['shared.team'], explain: true };
    const before = await order(world, places, bob());
    expect(before.map((hit) => hit.score))
      .to.have.length(2)
      .and.to.satisfy(([a, b]: number[]) => a === b);
    expect(JSON.stringify(before)).not.to.match(/feedback|complaints/);
    const last = before[1]?.memory_id ?? '';
    expect(await give(world, { memory_ids: [last], verdict: 'useful' }, bob())).to.deep.equal({
      results: [{ memory_id: last, counted: true }],
    });
    const [first] = await order(world, places, bob());
    expect(first?.memory_id).to.equal(last);
    expect(first?.explain?.signals.find(({ signal }) => signal === 'feedback')?.contribution).to.be.closeTo(0.05, 1e-3);
    await give(world, { memory_ids: [last], verdict: 'wrong' }, bob());
    const [, below] = await order(world, places, bob());
    expect(below?.memory_id).to.equal(last);
    expect(below?.explain?.signals.find(({ signal }) => signal === 'complaints')?.contribution).to.be.below(0);
    expect([tea.memory_id, coffee.memory_id]).to.include(last);
  });

  it('loses no vote that came later and was faster', async () => {
    const world = createWorld();
    const { memory_id } = plant(world, shared);
    const patch = world.index.patchMany.bind(world.index);
    let first = true;
    world.index.patchMany = async (...patches) => {
      if (first) {
        first = false;
        await give(world, { memory_ids: [memory_id], verdict: 'useful' }, bob('user', 'carol'));
      }
      return patch(...patches);
    };
    await give(world, { memory_ids: [memory_id], verdict: 'useful' }, bob());
    expect(head(world, memory_id)?.feedback).to.include({ useful: 2 });
  });

  it('counts a repeat once a day, and does not touch the version', async () => {
    const world = createWorld();
    const { memory_id } = plant(world);
    const again: FeedbackInput = { memory_ids: [memory_id, memory_id], verdict: 'cited' };
    expect((await give(world, again)).results).to.deep.equal([{ memory_id, counted: true }]);
    const [second] = (await give(world, again)).results;
    expect(second).to.include({ counted: false }).and.to.have.property('reason');
    world.time.nowMs += 86_400_000;
    expect((await give(world, again)).results[0]).to.include({ counted: true });
    expect(head(world, memory_id)).to.deep.include({ version: 1 });
    expect(head(world, memory_id)?.feedback).to.include({ cited: 2, useful: 0 });
    expect(world.index.copies.size).to.equal(0);
  });

  it('lets no crowd of agents bury what a person stated', async () => {
    const world = createWorld();
    const stated = plant(world, { ...shared, content: 'drink tea' });
    const rival = plant(world, { ...shared, content: 'drink poison', trust_tier: 2 });
    for (let i = 0; i < 30; i += 1) {
      await give(world, { memory_ids: [stated.memory_id], verdict: 'wrong' }, bob('agent', `bot${i}`));
      await give(world, { memory_ids: [rival.memory_id], verdict: 'outdated' }, bob('agent', `bot${i}`));
    }
    const loss = Math.abs(head(world, stated.memory_id)?.feedback?.score ?? 1);
    expect(loss).to.be.at.most(0.2);
    expect(head(world, stated.memory_id)?.doubt).to.equal(undefined);
    // of its own tier the same crowd counts in full
    expect(head(world, rival.memory_id)?.feedback?.score).to.be.below(-0.6);
    const [first] = await order(world, { namespaces: ['shared.team'] }, bob());
    expect(first?.memory_id).to.equal(stated.memory_id);
  });

  it('puts what its owner calls wrong or outdated in doubt, as a person alone, and takes the doubt away by useful', async () => {
    const world = createWorld();
    const { memory_id } = plant(world, shared);
    const ann = principal({ namespaces: ['shared.**'] });
    for (const by of [bob(), agent]) await give(world, { memory_ids: [memory_id], verdict: 'outdated' }, by).catch(() => undefined);
    expect(head(world, memory_id)?.doubt).to.equal(undefined);
    expect((await give(world, { memory_ids: [memory_id], verdict: 'outdated' }, ann)).results[0]).to.include({ doubt: 0.5 });
    expect((await order(world, { namespaces: ['shared.team'] }, ann))[0]).to.include({ doubt: 0.5 });
    await give(world, { memory_ids: [memory_id], verdict: 'useful' }, ann);
    expect((await order(world, { namespaces: ['shared.team'] }, ann))[0]).not.to.have.property('doubt');
  });

  it('goes to what a search returned, told by its trace, which is its caller’s own', async () => {
    const world = createWorld();
    const [tea, coffee] = [plant(world, { content: 'drink tea' }), plant(world, { content: 'drink strong black coffee' })];
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await world.memory.search({ query: 'drink' }, world.call(principal(), { traceId }));
    const cited = await give(world, { trace_id: traceId, verdict: 'cited', answer: 'You drink tea.' });
    expect(cited.results).to.have.deep.members([
      { memory_id: tea.memory_id, counted: true },
      { memory_id: coffee.memory_id, counted: false, reason: 'the answer does not draw on it' },
    ]);
    const code = async (input: FeedbackInput, by = principal()) => (await rejection(world.memory.feedback(input, world.call(by)))).code;
    expect(await code({ trace_id: traceId, verdict: 'wrong' }, principal({ sub: 'eve' }))).to.equal('ERR_RECALL_NOT_FOUND');
    expect(await code({ trace_id: '0'.repeat(32), verdict: 'wrong' })).to.equal('ERR_RECALL_NOT_FOUND');
    // what has been forgotten since is passed over
    await world.memory.forget({ memory_id: coffee.memory_id }, world.call());
    expect((await give(world, { trace_id: traceId, verdict: 'useful' })).results.map((r) => r.memory_id)).to.deep.equal([tea.memory_id]);
  });

  it('takes no word on what may not be read, and leaves it as it is', async () => {
    const world = createWorld();
    const [own, hidden] = [plant(world, shared), plant(world, { ...shared, visibility: 'private' })];
    const gone = plant(world, { ...shared, status: 'quarantined' });
    for (const id of [hidden.memory_id, gone.memory_id, memoryRecord().memory_id, plant(world, { tenant: 'zeta' }).memory_id]) {
      const error = await rejection(give(world, { memory_ids: [own.memory_id, id], verdict: 'wrong' }, bob()));
      expect(error.code).to.equal('ERR_MEMORY_NOT_FOUND');
    }
    expect(head(world, own.memory_id)).not.to.have.property('feedback');
  });

  it('keeps a note masked, tries again when the head moves, and repairs a head that a crash left without it', async () => {
    const world = createWorld();
    const { memory_id } = plant(world);
    let notes: unknown;
    const update = world.deps.feedback.update.bind(world.deps.feedback);
    world.deps.feedback.update = async (...args) => {
      const kept = await update(...args);
      notes = kept?.votes.map((vote) => vote.note);
      return kept;
    };
    let moved = 0;
    world.index.before = (method) => {
      if (method !== 'patchMany') return;
      moved += 1;
      if (moved === 1) throw new Error('kill -9');
      if (moved === 2) world.index.plant({ ...(head(world, memory_id) as MemoryRecord), importance: 0.4 });
    };
    const input: FeedbackInput = { memory_ids: [memory_id], verdict: 'useful', note: 'call 13800138000 to check' };
    await give(world, input).then(
      () => expect.fail('it went through'),
      (error: Error) => expect(error.message).to.equal('kill -9'),
    );
    expect((await give(world, input)).results[0]).to.include({ counted: false });
    expect(head(world, memory_id)).to.deep.include({ importance: 0.4 });
    expect(head(world, memory_id)?.feedback).to.include({ useful: 1 });
    expect(JSON.stringify(notes)).to.contain('[masked:').and.not.to.contain('13800138000');
  });
});
