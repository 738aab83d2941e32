import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const plant = (world: World, fields: Partial<MemoryRecord> = {}): MemoryRecord => {
  const record = memoryRecord({ lex_uni: 'tea', ...fields });
  world.index.plant(record);
  return record;
};
const statusOf = (world: World, record: MemoryRecord) => world.index.heads.get(record.memory_id)?.record.status;
const code = async (world: World, input: Parameters<World['memory']['forget']>[0], by = principal()) =>
  (await rejection(world.memory.forget(input, world.call(by)))).code;

describe('memory forget, by id', () => {
  it('takes a memory out of every read, keeps the version, and says 0 the second time', async () => {
    const world = createWorld();
    const record = plant(world);
    const { memory_id } = record;
    expect(await world.memory.forget({ memory_id }, world.call())).to.deep.equal({ forgotten: 1, memory_ids: [memory_id] });
    expect(world.index.heads.get(memory_id)?.record).to.include({ status: 'forgotten', version: 2 });
    expect(world.index.copies.get(`${memory_id}@1`)).to.include({ status: 'active', content: record.content });
    expect((await world.memory.search({ query: 'tea' }, world.call())).hits).to.deep.equal([]);
    expect((await world.memory.list({}, world.call())).items).to.deep.equal([]);
    expect((await rejection(world.memory.get({ memory_id }, world.call()))).code).to.equal('ERR_MEMORY_NOT_FOUND');
    expect((await rejection(world.memory.history({ memory_id }, world.call()))).code).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(await world.memory.forget({ memory_id }, world.call())).to.deep.equal({ forgotten: 0, memory_ids: [] });
    expect(world.index.heads.get(memory_id)?.record.version).to.equal(2);
  });

  it('answers 404 for what was never there or may not be seen, 403 for what may be seen but not forgotten', async () => {
    const world = createWorld();
    const foreign = plant(world, { namespace: 'shared.x', visibility: 'shared', owner: 'bob' });
    expect(await code(world, { memory_id: memoryRecord().memory_id })).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(await code(world, { memory_id: plant(world, { tenant: 'zeta' }).memory_id })).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(await code(world, { memory_id: foreign.memory_id })).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(statusOf(world, foreign)).to.equal('active');
  });

  it('gives agents and services nothing of what a person has to decide on, and takes none of it away for them', async () => {
    const world = createWorld();
    for (const status of ['pending', 'quarantined', 'rejected'] as const) {
      const held = plant(world, { status, content: 'poison' });
      for (const actor of ['agent', 'service'] as const)
        for (const dry_run of [true, false])
          expect(await code(world, { memory_id: held.memory_id, dry_run }, principal({ actor })), `${actor} ${status}`).to.equal(
            'ERR_MEMORY_NOT_FOUND',
          );
      expect(statusOf(world, held)).to.equal(status);
      const dry = await world.memory.forget({ memory_id: held.memory_id, dry_run: true }, world.call());
      expect(dry.sample?.[0]?.content, status).to.equal('poison');
      expect(await world.memory.forget({ memory_id: held.memory_id }, world.call())).to.include({ forgotten: 1 });
    }
  });

  it('leaves to a person what was held back between the dry run of an agent’s plan and the plan', async () => {
    const world = createWorld();
    const by = world.call(principal({ actor: 'agent' }));
    const record = plant(world, { content: 'poison', trust_tier: 1, topic: 'tea' });
    const { plan, count } = await world.memory.forget({ filter: { topic: 'tea' }, dry_run: true }, by);
    expect(count).to.equal(1);
    plant(world, { ...record, status: 'quarantined', version: 2 });
    const answer = await world.memory.forget({ plan: plan ?? '' }, by);
    expect(answer).to.deep.include({ forgotten: 0 });
    expect(answer.skipped?.map(({ memory_id }) => memory_id)).to.deep.equal([record.memory_id]);
    expect(statusOf(world, record)).to.equal('quarantined');
  });

  it('honours the version, a legal hold, and a dry run', async () => {
    const world = createWorld();
    const record = plant(world, { content: 'x'.repeat(500) });
    expect(await code(world, { memory_id: record.memory_id, version: 3 })).to.equal('ERR_PRECONDITION_FAILED');
    const dry = await world.memory.forget({ memory_id: record.memory_id, dry_run: true }, world.call());
    expect(dry).to.deep.include({ forgotten: 0, count: 1 });
    expect(dry.sample?.[0]?.content).to.equal(`${'x'.repeat(200)}…`);
    const held = plant(world, { legal_hold: true });
    expect(await world.memory.forget({ memory_id: held.memory_id }, world.call())).to.include({ forgotten: 0 });
    expect([statusOf(world, record), statusOf(world, held)]).to.deep.equal(['active', 'active']);
  });

  it('takes its words back from the turn after it before it goes', async () => {
    const world = createWorld();
    const write = async (turn: number, content: string) =>
      (await world.memory.write({ content, session_id: 's', turn, admission: 'keep' }, world.call())).results[0]?.memory_id ?? '';
    const [first, second] = [await write(1, 'confidential'), await write(2, 'yes')];
    let contextAtPatch: string | undefined;
    world.index.before = (method) => {
      if (method === 'patchMany') contextAtPatch = world.index.heads.get(second)?.record.lex_context;
    };
    await world.memory.forget({ memory_id: first }, world.call());
    expect(contextAtPatch).to.equal('ye');
    expect(world.index.heads.get(second)?.record).not.to.have.property('prev_turn_id');
  });

  it('takes sealed values out of version copies, and looks for none where there can be none', async () => {
    const world = createWorld();
    const written = async (content: string): Promise<string> =>
      (await world.memory.write({ content }, world.call())).results[0]?.memory_id ?? '';
    const looks = () => world.index.dropped.flat();
    const changed = await written('mobile 13912345678');
    await world.memory.update({ memory_id: changed, content: 'no number any more' }, world.call());
    await world.memory.forget({ memory_id: changed }, world.call());
    expect([...world.index.copies.values()].map(({ version, sealed }) => [version, sealed])).to.deep.equal([
      [1, undefined],
      [2, undefined],
    ]);
    expect(looks()).to.deep.equal([changed]);
    await world.memory.forget({ memory_id: await written('The hall has two doors.') }, world.call());
    expect(looks(), 'a first version without any').to.deep.equal([changed]);
    const sealed = await written('mobile of the office 13912345679');
    await world.memory.forget({ memory_id: sealed }, world.call());
    expect(looks(), 'a first version whose copy an update may have made that broke off').to.deep.equal([changed, sealed]);
  });

  it('tries again when the head moved, and reports one that never stood still', async () => {
    const world = createWorld();
    const record = plant(world);
    let moves = 2;
    world.index.before = (method) => {
      if (method !== 'patchMany' || moves === 0) return;
      moves -= 1;
      world.index.plant({ ...record, hit_count: moves });
    };
    expect(await world.memory.forget({ memory_id: record.memory_id }, world.call())).to.include({ forgotten: 1 });
    const other = plant(world);
    world.index.before = (method) => {
      if (method === 'patchMany') world.index.plant(other);
    };
    expect(await code(world, { memory_id: other.memory_id })).to.equal('ERR_VERSION_CONFLICT');
  });
});

describe('memory forget, by filter or query', () => {
  it('refuses what selects everything, and a first call that is not a dry run', async () => {
    const world = createWorld();
    plant(world);
    for (const input of [{}, { dry_run: true }, { filter: {}, dry_run: true }, { filter: { tags: [], created: {} }, dry_run: true }])
      expect(await code(world, input)).to.equal('ERR_FORGET_TARGET');
    expect(await code(world, { filter: { tags: ['a'] } })).to.equal('ERR_PLAN_INVALID');
    expect(await code(world, { query: 'tea' })).to.equal('ERR_PLAN_INVALID');
    expect(await code(world, { plan: 'nonsense' })).to.equal('ERR_PLAN_INVALID');
  });

  it('counts and samples first, then forgets exactly what the plan names', async () => {
    const world = createWorld();
    const fitting = [plant(world, { tags: ['a'], pinned: true }), plant(world, { tags: ['a'], trust_tier: 0 })];
    const others = [
      plant(world, { tags: ['b'] }),
      plant(world, { tags: ['a'], legal_hold: true }),
      plant(world, { tags: ['a'], tenant: 'zeta' }),
      plant(world, { tags: ['a'], namespace: 'shared.x', visibility: 'shared', owner: 'bob' }),
    ];
    const dry = await world.memory.forget({ filter: { tags: ['a'] }, dry_run: true }, world.call());
    expect(dry).to.include({ forgotten: 0, count: 2, plan_expires_at: '2026-03-01T12:10:00.000Z' });
    expect(dry.sample?.map((s) => s.reference_only)).to.have.members([false, true]);
    expect(dry.sample?.find((s) => s.reference_only)?.content).to.match(/^⟦ref .*⟦\/ref [0-9a-f]+⟧$/);
    const late = plant(world, { tags: ['a'], created_at: '2026-03-01T12:00:01.000Z' });
    const done = await world.memory.forget({ plan: dry.plan ?? '' }, world.call());
    expect(done.forgotten).to.equal(2);
    expect(done.memory_ids).to.have.members(fitting.map((r) => r.memory_id));
    expect(fitting.map((r) => statusOf(world, r))).to.deep.equal(['forgotten', 'forgotten']);
    expect([...others, late].map((r) => statusOf(world, r))).to.deep.equal(others.concat(late).map(() => 'active'));
    expect(await world.memory.forget({ plan: dry.plan ?? '' }, world.call()), 'a repeat is safe').to.include({ forgotten: 0 });
  });

  it('leaves what was corrected after the dry run, and says so', async () => {
    const world = createWorld();
    const [corrected, united] = [plant(world, { tags: ['a'] }), plant(world, { tags: ['a'] })];
    const { plan = '' } = await world.memory.forget({ filter: { tags: ['a'] }, dry_run: true }, world.call());
    world.time.nowMs += 60_000;
    const content = 'Parcel 1 went back to its sender.';
    await world.memory.update({ memory_id: corrected.memory_id, content }, world.call());
    await world.memory.update({ memory_id: united.memory_id, confidence: 0.9 }, world.call());
    const done = await world.memory.forget({ plan }, world.call());
    expect(done).to.deep.include({ forgotten: 1, memory_ids: [united.memory_id] });
    expect(done.skipped).to.deep.equal([{ memory_id: corrected.memory_id, reason: 'it was changed after the dry run' }]);
    expect(world.index.heads.get(corrected.memory_id)?.record).to.include({ status: 'active', content });
  });

  it('binds a plan to its caller, its target and ten minutes', async () => {
    const world = createWorld();
    const record = plant(world, { tags: ['a'], namespace: 'team.x', visibility: 'shared' });
    const ann = principal({ namespaces: ['team.x'] });
    const target = { filter: { tags: ['a'] }, namespaces: ['team.x'] };
    const { plan = '' } = await world.memory.forget({ ...target, dry_run: true }, world.call(ann));
    expect(await code(world, { plan }, principal({ sub: 'bob', namespaces: ['team.x'] }))).to.equal('ERR_PLAN_INVALID');
    expect(await code(world, { plan }, principal({ namespaces: ['team.x'], tenant: 'zeta' }))).to.equal('ERR_PLAN_INVALID');
    expect(await code(world, { plan, filter: { tags: ['b'] } }, ann)).to.equal('ERR_PLAN_INVALID');
    expect(await code(world, { plan: `A${plan.slice(1)}` }, ann)).to.equal('ERR_PLAN_INVALID');
    world.time.nowMs += 10 * 60_000;
    expect(await code(world, { plan }, ann)).to.equal('ERR_PLAN_INVALID');
    expect(statusOf(world, record)).to.equal('active');
    const again = await world.memory.forget({ ...target, dry_run: true }, world.call(ann));
    expect(await world.memory.forget({ ...target, plan: again.plan ?? '' }, world.call(ann))).to.include({ forgotten: 1 });
  });

  it('forgets more than a plan can name by its filter, without what came later, and goes on after a break', async () => {
    const world = createWorld();
    const many = Array.from({ length: 450 }, (_, i) => plant(world, { tags: ['a'], fingerprint: `f${i}` }));
    const { plan = '', count } = await world.memory.forget({ filter: { tags: ['a'] }, dry_run: true }, world.call());
    expect(count).to.equal(450);
    const late = plant(world, { tags: ['a'], created_at: '2026-03-01T12:00:01.000Z' });
    let pages = 0;
    world.index.before = (method) => {
      if (method === 'patchMany' && (pages += 1) === 3) throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    expect(await code(world, { plan })).to.equal('ERR_STORE_UNAVAILABLE');
    const gone = () => many.filter((r) => statusOf(world, r) === 'forgotten').length;
    expect(gone()).to.equal(200);
    world.index.before = undefined;
    const rest = await world.memory.forget({ plan }, world.call());
    expect(rest.forgotten).to.equal(250);
    expect(rest.memory_ids).to.have.length(100);
    expect(gone()).to.equal(450);
    expect(statusOf(world, late)).to.equal('active');
  });

  it('forgets what answers a query, above the score asked for', async () => {
    const world = createWorld();
    await world.memory.write({ items: [{ content: 'Ann drinks green tea' }, { content: 'the train leaves at nine' }] }, world.call());
    const none = await world.memory.forget({ query: 'green tea', min_score: 1, dry_run: true }, world.call());
    expect(none).to.deep.equal({ forgotten: 0, memory_ids: [], count: 0, sample: [] });
    const { plan = '', count } = await world.memory.forget({ query: 'green tea', min_score: 0.01, dry_run: true }, world.call());
    expect(count).to.equal(1);
    await world.memory.forget({ plan }, world.call());
    expect([...world.index.heads.values()].map((h) => [h.record.content, h.record.status])).to.deep.equal([
      ['Ann drinks green tea', 'forgotten'],
      ['the train leaves at nine', 'active'],
    ]);
  });
});
