import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';

const day = (n: number): string => `2026-02-${String(n).padStart(2, '0')}T00:00:00.000Z`;

function plant(world: World, fields: Partial<MemoryRecord>): MemoryRecord {
  const record = memoryRecord({ lex_uni: 'drink', fingerprint: fields.content ?? 'f', ...fields });
  world.index.plant(record);
  return record;
}
function copyOf(world: World, record: MemoryRecord, fields: Partial<MemoryRecord>): void {
  world.index.plantVersion({ ...record, fingerprint: fields.content ?? record.fingerprint, ...fields });
}
const found = async (world: World, input: object = {}, by = principal()) =>
  (await world.memory.search({ query: 'drink', ...input }, world.call(by))).hits;

describe('what a hit was', () => {
  it('is its last version with other words, until the version after that one began', async () => {
    const world = createWorld();
    const now = plant(world, { content: 'coffee', version: 3, valid_from: day(9) });
    copyOf(world, now, { content: 'coffee', version: 2, valid_from: day(5), valid_to: day(9) });
    copyOf(world, now, { content: 'tea', version: 1, valid_from: day(1), valid_to: day(4) });
    const [hit] = await found(world);
    expect(hit).to.include({ content: 'coffee' });
    expect(hit?.was).to.deep.equal({ content: 'tea', until: day(5) });
    expect(hit).not.to.have.any.keys('valid_from', 'valid_to', 'superseded_by', 'doubt');
  });

  it('is the memory that it superseded, by its id, and of one without a past nothing, without a look-up', async () => {
    const world = createWorld();
    const before = plant(world, { content: 'tea', status: 'superseded', version: 2, valid_from: day(5) });
    plant(world, { content: 'coffee', supersedes: [before.memory_id] });
    const [hit] = await found(world);
    expect(hit?.was).to.deep.equal({ content: 'tea', until: day(5), memory_id: before.memory_id });
    const other = createWorld();
    plant(other, { content: 'coffee' });
    expect((await found(other))[0]).not.to.have.property('was');
    expect(other.index.calls).not.to.include('predecessors');
  });

  it('costs one look-up, however many hits have one', async () => {
    const world = createWorld();
    for (let i = 0; i < 4; i += 1) {
      const record = plant(world, { content: `coffee ${i}`, version: 2, subject: `s${i}` });
      copyOf(world, record, { content: `tea ${i}`, version: 1 });
    }
    expect((await found(world)).map((hit) => hit.was?.content)).to.have.members(['tea 0', 'tea 1', 'tea 2', 'tea 3']);
    expect(world.index.calls.filter((name) => name === 'predecessors')).to.have.length(1);
  });

  it('stands in the envelope by its own tier, with the boundary of the answer', async () => {
    const world = createWorld();
    const before = plant(world, { content: 'tea', status: 'superseded', trust_tier: 0 });
    plant(world, { content: 'coffee', supersedes: [before.memory_id] });
    const low = plant(world, { content: 'water', trust_tier: 1, subject: 'other' });
    const hits = await found(world);
    const was = hits.find((hit) => hit.content === 'coffee')?.was?.content ?? '';
    const boundary = /^⟦ref ([0-9a-f]+) external /.exec(was)?.[1];
    expect(was).to.match(/⟧tea⟦\/ref [0-9a-f]+⟧$/);
    expect(hits.find((hit) => hit.memory_id === low.memory_id)?.content).to.contain(`⟦ref ${boundary} `);
  });

  it('is nothing that the reader may not see: forgotten, expired, private to others, in another tenant, under the floor', async () => {
    const world = createWorld();
    const shared = { namespace: 'shared.team', visibility: 'shared' } as const;
    const bob = principal({ sub: 'bob', namespaces: ['shared.**'] });
    const cases: readonly Partial<MemoryRecord>[] = [
      { status: 'forgotten' },
      { status: 'quarantined' },
      { status: 'candidate' },
      { status: 'superseded', expires_at: day(1) },
      { status: 'superseded', visibility: 'private' },
      { status: 'superseded', tenant: 'zeta' },
      { status: 'superseded', namespace: 'user.ann' },
    ];
    for (const [i, fields] of cases.entries()) {
      const before = plant(world, { ...shared, content: `secret ${i}`, ...fields });
      plant(world, { ...shared, content: `drink ${i}`, subject: `s${i}`, supersedes: [before.memory_id] });
      const own = plant(world, { ...shared, content: `other ${i}`, subject: `o${i}`, version: 2 });
      copyOf(world, own, { content: `secret ${i}`, version: 1, ...fields });
    }
    const hits = await found(world, { namespaces: ['shared.team'], top_k: 20 }, bob);
    expect(hits.length).to.be.at.least(14);
    expect(JSON.stringify(hits)).not.to.contain('secret');
    const mine = createWorld();
    const low = plant(mine, { content: 'secret', status: 'superseded', trust_tier: 1 });
    plant(mine, { content: 'latte', trust_tier: 4, supersedes: [low.memory_id] });
    const text = async (input: object): Promise<string> => JSON.stringify(await found(mine, input));
    expect(await text({}))
      .to.contain('latte')
      .and.to.contain('secret');
    expect(await text({ trust_floor: 'user_stated' }))
      .to.contain('latte')
      .and.not.to.contain('secret');
    expect(await text({ influence_only: true }))
      .to.contain('latte')
      .and.not.to.contain('secret');
  });

  it('is judged by today’s rules like any text that goes into a prompt', async () => {
    const world = createWorld({ guard: { screenStages: [{ name: 'rule', keep: ({ content }) => !content.includes('tea') }] } });
    const before = plant(world, { content: 'tea', status: 'superseded' });
    plant(world, { content: 'coffee', supersedes: [before.memory_id] });
    expect((await found(world))[0])
      .to.include({ content: 'coffee' })
      .and.not.to.have.property('was');
  });

  it('gives way to dates when what no longer holds is asked for', async () => {
    const world = createWorld();
    const old = plant(world, {
      content: 'tea',
      status: 'superseded',
      version: 3,
      valid_from: day(8),
      superseded_by: 'x',
      created_at: day(1),
    });
    copyOf(world, old, { content: 'tea', status: 'active', version: 2, valid_from: day(6) });
    copyOf(world, old, { content: 'water', status: 'active', version: 1, valid_from: day(1) });
    plant(world, { content: 'coffee', supersedes: [old.memory_id], valid_from: day(8) });
    const hits = await found(world, { include_superseded: true });
    expect(hits.find((hit) => hit.content === 'tea')).to.include({ valid_from: day(6), valid_to: day(8), superseded_by: 'x' });
    expect(hits.find((hit) => hit.content === 'coffee'))
      .to.include({ valid_from: day(8) })
      .and.not.to.have.any.keys('valid_to', 'was');
  });

  it('says of a doubted or contested hit that it is', async () => {
    const world = createWorld();
    plant(world, { content: 'tea', doubt: 0.5 });
    plant(world, { content: 'coffee', status: 'conflict', conflict_with: ['x'], subject: 'other' });
    const hits = await found(world);
    expect(hits.find((hit) => hit.content === 'tea')).to.include({ doubt: 0.5 });
    expect(hits.find((hit) => hit.content === 'coffee')).to.deep.include({ status: 'conflict', conflict_with: ['x'] });
  });

  it('is left out, and said to be, when it cannot be looked up', async () => {
    const world = createWorld();
    const before = plant(world, { content: 'tea', status: 'superseded' });
    plant(world, { content: 'coffee', supersedes: [before.memory_id] });
    world.index.before = (method) => {
      if (method === 'predecessors') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    const answer = await world.memory.search({ query: 'drink' }, world.call());
    expect(answer.degraded).to.deep.equal(['was']);
    expect(answer.hits[0]).to.include({ content: 'coffee' }).and.not.to.have.property('was');
  });
});
