import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { mergePatch } from '../../../src/memory/canonical.ts';
import { createWorld, vectorOf, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const head = (world: World, id: string): MemoryRecord => {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error('no such head');
  return found;
};

const planted = (world: World, fields: Partial<MemoryRecord> = {}): MemoryRecord => {
  const record = memoryRecord({
    lex_uni: 'old',
    lex_summary: 'old',
    vec_en: [...vectorOf('old')],
    spaces_ready: ['en'],
    lease_by: 'w1',
    embed_tries: 2,
    ...fields,
  });
  world.index.plant(record);
  return record;
};

describe('memory update', () => {
  it('replaces the text, rebuilds what is derived from it, and keeps the old version', async () => {
    const world = createWorld();
    const before = planted(world, { created_at: '2026-02-01T00:00:00.000Z' });
    const answer = await world.memory.update(
      { memory_id: before.memory_id, version: 1, content: 'Ann likes black coffee A-17' },
      world.call(),
    );
    expect(answer).to.deep.equal({
      memory_id: before.memory_id,
      outcome: 'updated',
      version: 2,
      guard: { verdict: 'allow', rule_ids: [], policy_revision: 'r1' },
    });
    const after = head(world, before.memory_id);
    expect(after).to.deep.include({
      content: 'Ann likes black coffee A-17',
      version: 2,
      codes: ['a-17'],
      spaces_due: ['zh', 'en'],
      updated_at: '2026-03-01T12:00:00.000Z',
      valid_from: '2026-03-01T12:00:00.000Z',
      created_at: '2026-02-01T00:00:00.000Z',
      trust_tier: 3,
    });
    expect(after.lex_uni).to.include('coffe');
    expect(after.fingerprint).not.to.equal(before.fingerprint);
    expect(after).not.to.have.any.keys('vec_en', 'spaces_ready', 'lease_by', 'embed_tries', 'lex_summary');
    const copy = world.index.copies.get(`${before.memory_id}@1`);
    expect(copy).to.include({ content: before.content, version: 1, valid_to: '2026-03-01T12:00:00.000Z' });
    expect(copy).not.to.have.any.keys('vec_en', 'lease_by');
    expect(world.nudged).to.deep.equal(['acme']);
  });

  it('keeps vectors when the text stays, also when only the summary changes', async () => {
    const world = createWorld();
    const before = planted(world);
    await world.memory.update({ memory_id: before.memory_id, summary: 'short form', importance: 0.9, pinned: true }, world.call());
    const after = head(world, before.memory_id);
    expect(after).to.include({ importance: 0.9, pinned: true, lex_summary: 'short form', lex_uni: 'old', version: 2 });
    expect(after.vec_en).to.deep.equal(before.vec_en);
    expect(after).not.to.have.property('spaces_due');
  });

  it('says unchanged, at the same version, when nothing would change', async () => {
    const world = createWorld();
    const before = planted(world, { tags: ['a'], metadata: { a: 1 } });
    const answer = await world.memory.update(
      { memory_id: before.memory_id, content: before.content, tags: ['a'], metadata: { b: null }, importance: null },
      world.call(),
    );
    expect(answer).to.include({ outcome: 'unchanged', version: 1 });
    expect(world.index.copies.size).to.equal(0);
  });

  it('takes optional fields away by null and merges metadata', async () => {
    const world = createWorld();
    const before = planted(world, {
      importance: 0.4,
      expires_at: '2027-01-01T00:00:00.000Z',
      occurred_at: '2026-01-01T00:00:00.000Z',
      metadata: { a: 1, b: { c: 2, d: 3 } },
    });
    await world.memory.update(
      { memory_id: before.memory_id, importance: null, expires_at: null, occurred_at: null, metadata: { a: null, b: { c: 4 } } },
      world.call(),
    );
    const after = head(world, before.memory_id);
    expect(after).not.to.have.any.keys('importance', 'expires_at', 'occurred_at');
    expect(after.metadata).to.deep.equal({ b: { c: 4, d: 3 } });
    expect(after.event_at).to.equal(before.created_at);
    const tooDeep = world.memory.update({ memory_id: before.memory_id, metadata: { a: { b: { c: { d: 1 } } } } }, world.call());
    expect((await rejection(tooDeep)).faults[0]?.pointer).to.equal('/metadata');
  });

  it('follows the examples of RFC 7396', () => {
    const cases: readonly (readonly [unknown, unknown, unknown])[] = [
      [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
      [{ a: 'b' }, { a: null }, {}],
      [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
      [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
      [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
      [
        ['a', 'b'],
        ['c', 'd'],
        ['c', 'd'],
      ],
      [{ a: 'foo' }, null, null],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: 'b', c: null }, { a: 'b' }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ];
    for (const [target, patch, result] of cases) expect(mergePatch(target, patch)).to.deep.equal(result);
    expect(mergePatch({}, JSON.parse('{"__proto__": {"polluted": 1}}'))).not.to.have.property('polluted');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('marks what no longer holds as superseded, without a successor', async () => {
    const world = createWorld();
    const before = planted(world);
    expect(await world.memory.update({ memory_id: before.memory_id, invalid: true }, world.call())).to.include({ outcome: 'updated' });
    expect(head(world, before.memory_id)).to.include({ status: 'superseded', version: 2 });
    expect((await world.memory.search({ query: 'old' }, world.call())).hits).to.deep.equal([]);
    expect(await world.memory.update({ memory_id: before.memory_id, invalid: true }, world.call())).to.include({ outcome: 'unchanged' });
  });

  it('keeps a less trusted writer’s change as a candidate and leaves the head alone', async () => {
    const world = createWorld();
    const before = planted(world);
    const agent = world.call(principal({ actor: 'agent' }));
    const answer = await world.memory.update({ memory_id: before.memory_id, content: 'Ann hates tea' }, agent);
    expect(answer).to.include({ memory_id: before.memory_id, outcome: 'conflict', version: 1 });
    expect(head(world, before.memory_id)).to.deep.equal(before);
    const [candidate] = [...world.index.heads.values()].map((h) => h.record).filter((r) => r.memory_id !== before.memory_id);
    expect(candidate).to.deep.include({
      content: 'Ann hates tea',
      status: 'candidate',
      trust_tier: 2,
      conflict_with: [before.memory_id],
      parents: [before.memory_id],
      version: 1,
    });
    expect((await world.memory.search({ query: 'Ann hates tea' }, agent)).hits.map((h) => h.content)).not.to.include('Ann hates tea');
  });

  it('never raises trust: what a person writes over an agent’s memory stays agent_inferred', async () => {
    const world = createWorld();
    const before = planted(world, { trust_tier: 2, taint: ['web'] });
    await world.memory.update({ memory_id: before.memory_id, content: 'said by a person' }, world.call());
    expect(head(world, before.memory_id)).to.deep.include({ trust_tier: 2, taint: ['web'], version: 2 });
  });

  it('refuses another version, an absent id, a foreign namespace and a share without memory:share', async () => {
    const world = createWorld();
    const own = planted(world);
    const shared = planted(world, { namespace: 'shared.x', visibility: 'shared', owner: 'bob' });
    const code = async (input: Parameters<World['memory']['update']>[0], by = principal()) =>
      (await rejection(world.memory.update(input, world.call(by)))).code;
    expect(await code({ memory_id: own.memory_id, version: 2, content: 'x' })).to.equal('ERR_PRECONDITION_FAILED');
    expect(await code({ memory_id: memoryRecord().memory_id, content: 'x' })).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(await code({ memory_id: own.memory_id, content: 'x' }, principal({ sub: 'bob' }))).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(await code({ memory_id: shared.memory_id, content: 'x' })).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(await code({ memory_id: own.memory_id, visibility: 'shared' })).to.equal('ERR_SCOPE_MISSING');
    expect(head(world, own.memory_id).version).to.equal(1);
  });

  it('tries again on the new state when the head moved in between, and gives up after twenty times', async () => {
    const world = createWorld();
    const before = planted(world);
    let moves = 1;
    world.index.before = (method) => {
      if (method !== 'replace' || moves === 0) return;
      moves -= 1;
      world.index.plant({ ...head(world, before.memory_id), hit_count: moves });
    };
    await world.memory.update({ memory_id: before.memory_id, importance: 1 }, world.call());
    expect(head(world, before.memory_id)).to.include({ importance: 1, hit_count: 0, version: 2 });
    moves = 100;
    expect((await rejection(world.memory.update({ memory_id: before.memory_id, importance: 0 }, world.call()))).code).to.equal(
      'ERR_VERSION_CONFLICT',
    );
    expect(moves).to.equal(80);
  });

  it('refuses a version that another writer took first, also when that happened in between', async () => {
    const world = createWorld();
    const before = planted(world);
    let once = true;
    world.index.before = (method) => {
      if (method !== 'replace' || !once) return;
      once = false;
      world.index.plant({ ...head(world, before.memory_id), version: 2, content: 'theirs' });
    };
    const mine = world.memory.update({ memory_id: before.memory_id, version: 1, content: 'mine' }, world.call());
    expect((await rejection(mine)).code).to.equal('ERR_PRECONDITION_FAILED');
    expect(head(world, before.memory_id).content).to.equal('theirs');
  });

  it('survives a crash between copy and head: the repeat leaves one copy and one new version', async () => {
    const world = createWorld();
    const before = planted(world);
    world.index.before = (method) => {
      if (method === 'replace') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    await rejection(world.memory.update({ memory_id: before.memory_id, content: 'new' }, world.call()));
    expect(head(world, before.memory_id).version).to.equal(1);
    world.index.before = undefined;
    await world.memory.update({ memory_id: before.memory_id, content: 'new' }, world.call());
    expect(head(world, before.memory_id).version).to.equal(2);
    expect([...world.index.copies.keys()]).to.deep.equal([`${before.memory_id}@1`]);
  });

  it('does not let a blocked or quarantined change touch the head', async () => {
    const world = createWorld({
      guard: {
        admissionStages: [
          { name: 'rules', judge: (d) => ({ verdict: d.content === 'evil' ? 'block' : d.content === 'odd' ? 'quarantine' : 'allow' }) },
        ],
      },
    });
    const before = planted(world);
    expect(await world.memory.update({ memory_id: before.memory_id, content: 'evil' }, world.call())).to.include({ outcome: 'blocked' });
    expect(await world.memory.update({ memory_id: before.memory_id, content: 'odd' }, world.call())).to.include({ outcome: 'quarantined' });
    expect(head(world, before.memory_id)).to.deep.equal(before);
  });

  it('rebuilds the context of the turn after it, and takes the words back when they no longer hold', async () => {
    const world = createWorld();
    const write = async (turn: number, content: string) =>
      (await world.memory.write({ content, session_id: 's', turn, admission: 'keep' }, world.call())).results[0]?.memory_id ?? '';
    const [first, second] = [await write(1, 'tea'), await write(2, 'yes')];
    expect(head(world, second).lex_context).to.equal('tea ye');
    await world.memory.update({ memory_id: first, content: 'coffee' }, world.call());
    expect(head(world, second)).to.deep.include({ lex_context: 'coffe ye', spaces_due: ['zh', 'en'], version: 1 });
    await world.memory.update({ memory_id: second, content: 'no' }, world.call());
    expect(head(world, second).lex_context, 'its own change keeps the borrowed words').to.equal('coffe');
    await world.memory.update({ memory_id: second, content: 'never' }, world.call());
    expect(head(world, second).lex_context).to.equal('coffe never');
    await world.memory.update({ memory_id: first, invalid: true }, world.call());
    expect(head(world, second).lex_context).to.equal('never');
    expect(head(world, second)).not.to.have.property('prev_turn_id');
  });
});
