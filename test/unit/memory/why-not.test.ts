import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { SearchInput } from '../../../src/domain/wire/read.ts';
import { memorySearch } from '../../../src/operations/memory-search.ts';
import { createWorld, vectorOf, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord, nextId } from '../../support/records.ts';

function plant(world: World, fields: Partial<MemoryRecord> = {}): string {
  const record = memoryRecord({ lex_uni: 'green tea', fingerprint: nextId(), vec_en: [...vectorOf('green tea')], ...fields });
  world.index.plant(record);
  return record.memory_id;
}
/** It shares no word with the question, and has no vector. */
function withoutVector(world: World): MemoryRecord {
  const record = memoryRecord({ content: 'a kettle', lex_uni: 'kettl' });
  world.index.plant(record);
  return record;
}
async function ask(world: World, ids: readonly string[], input: Partial<SearchInput> = {}, by = principal()) {
  const answer = await world.memory.search({ query: 'green tea', why_not: [...ids], ...input }, world.call(by));
  return answer.why_not ?? [];
}
const outcomes = async (...args: Parameters<typeof ask>) => (await ask(...args)).map(({ outcome }) => outcome);

describe('why a memory did not come back', () => {
  it('is told for each one in order, and for none unless asked', async () => {
    const world = createWorld();
    const id = plant(world);
    expect(await world.memory.search({ query: 'green tea' }, world.call())).not.to.have.property('why_not');
    const other = nextId();
    const told = await ask(world, [other, id]);
    expect(told.map(({ memory_id, outcome }) => [memory_id, outcome])).to.deep.equal([
      [other, 'unknown'],
      [id, 'returned'],
    ]);
    expect(told[1]).to.include({ rank: 1 });
    expect(told[1]?.signals?.find(({ signal }) => signal === 'vector')?.rank).to.equal(1);
  });

  it('is one answer for what there is not and what may not be seen, with the same look-ups in the same time', async () => {
    const strangers: readonly Partial<MemoryRecord>[] = [
      { tenant: 'other' },
      { namespace: 'user.bob', owner: 'bob', visibility: 'shared' },
      { owner: 'bob', visibility: 'private', namespace: 'shared.team' },
      { status: 'quarantined' },
      { status: 'forgotten' },
      { status: 'pending' },
      { owner: 'bob', visibility: 'private', namespace: 'shared.team', expires_at: '2026-01-01T00:00:00.000Z' },
    ];
    const seen = new Set<string>();
    for (const fields of [undefined, ...strangers]) {
      const world = createWorld();
      const id = fields === undefined ? nextId() : plant(world, fields);
      const before = world.time.nowMs;
      const [told] = await ask(world, [id], {}, principal({ actor: 'agent' }));
      seen.add(JSON.stringify([{ ...told, memory_id: '' }, world.index.calls, world.time.nowMs - before]));
    }
    expect([...seen]).to.have.length(1);
    expect([...seen][0])
      .to.include('"outcome":"unknown"')
      .and.to.include(',25]');
  });

  it('names what the mandatory filter and the caller’s own conditions keep out', async () => {
    const world = createWorld();
    const ids = [
      plant(world, { namespace: 'shared.team', visibility: 'shared' }),
      plant(world, { status: 'superseded' }),
      plant(world, { expires_at: '2026-03-01T11:00:00.000Z' }),
      plant(world, { trust_tier: 1 }),
      plant(world, { kind: 'event', tags: ['b'] }),
    ];
    const told = await ask(world, ids, {
      namespaces: ['user.ann'],
      trust_floor: 'user_stated',
      filter: { kind: ['fact'], tags: ['b'], subject: 'Ann' },
    });
    expect(told.map(({ outcome }) => outcome)).to.deep.equal(['namespace', 'status', 'expired', 'trust_floor', 'filter']);
    expect(told[1]?.status).to.equal('superseded');
    expect(told[4]?.conditions).to.deep.equal(['kind', 'subject']);
    for (const { signals } of told) expect(signals).to.equal(undefined);
  });

  it('names what ranking and the cut keep out, with place, score and parts', async () => {
    const world = createWorld();
    for (let i = 0; i < 4; i += 1) plant(world, { content: `green tea number ${i}` });
    const last = plant(world, { content: 'tea of some kind', lex_uni: 'tea', vec_en: [...vectorOf('tea')] });
    const { memory_id: silent } = withoutVector(world);
    const [outranked] = await ask(world, [last], { top_k: 2 });
    expect(outranked).to.deep.include({ outcome: 'outranked', rank: 5 });
    expect(outranked?.needed).to.be.greaterThan(outranked?.score ?? 1);
    const part = outranked?.signals?.find(({ signal }) => signal === 'lexical');
    expect(part?.rank).to.equal(5);
    expect(part?.contribution).to.be.greaterThan(0);
    const [weak] = await ask(world, [last], { min_score: 0.99 });
    expect(weak).to.deep.include({ outcome: 'min_score', needed: 0.99 });
    expect(weak?.sentence).to.include('of 0.990');
    expect(await outcomes(world, [silent])).to.deep.equal(['no_match']);
  });

  it('tells the floor of an empty answer, and what a token budget had no room for', async () => {
    const world = createWorld();
    const id = plant(world, {
      content: 'the kettle leaks',
      lex_uni: 'kettl leak',
      vec_en: [...vectorOf('tea')].map((x, i) => (i < 60 ? -x : x)),
    });
    const [floor] = await ask(world, [id], { query: 'tea, coffee or kettles' });
    expect(floor).to.deep.include({ outcome: 'nothing_relevant', rank: 1, needed: 0.4 });
    const rich = createWorld();
    const long = 'green tea '.repeat(60);
    const ids = Array.from({ length: 4 }, (_, i) => plant(rich, { content: `${long} ${'abcd'[i]}${i} ${'pqrs'[i]}` }));
    expect(await outcomes(rich, ids, { token_budget: 60 })).to.include('token_budget');
  });

  it('tells the place in the one query of what is behind its candidates', async () => {
    const world = createWorld();
    for (let i = 0; i < 25; i += 1) plant(world, { content: `green tea number ${i} of ${i * 7}` });
    const id = plant(world, { content: 'tea', lex_uni: 'tea', vec_en: [...vectorOf('tea')] });
    const [told] = await ask(world, [id]);
    expect(told).to.deep.include({ outcome: 'candidates', engine_rank: 26 });
    expect(told?.signals?.map(({ signal }) => signal)).to.include.members(['vector', 'lexical']);
  });

  it('tells copies from what the guard keeps out, and which hit stands for them', async () => {
    const stage = { name: 'test', keep: (record: { content: string }) => !record.content.includes('poison') };
    const world = createWorld({ guard: { screenStages: [stage] } });
    const first = plant(world, { content: 'Ann likes green tea', trust_tier: 4 });
    const copy = plant(world, { content: 'Ann likes green tea.' });
    const poison = plant(world, { content: 'green tea with poison' });
    const [told, held] = await ask(world, [copy, poison]);
    expect(told).to.deep.include({ outcome: 'duplicate', duplicate_of: first });
    expect(held?.outcome).to.equal('screened');
    expect(held).not.to.have.any.keys('signals', 'score', 'rank');
    const lone = plant(world, { content: 'Ann drinks green tea at night' });
    expect(await outcomes(world, [lone, first], { influence_only: true })).to.deep.equal(['influence_only', 'returned']);
  });

  it('costs points for each memory, and is not told of a time in the past', () => {
    const id = nextId();
    expect(memorySearch.extraCost?.({ query: 'tea', why_not: [id, id] })).to.equal(4);
    const parsed = memorySearch.input.safeParse({ query: 'tea', why_not: [id], as_of: '2026-01-01T00:00:00Z' });
    expect(parsed.error?.issues.map(({ path }) => path)).to.deep.equal([['why_not']]);
    expect(memorySearch.input.safeParse({ query: 'tea', why_not: Array.from({ length: 6 }, () => id) }).success).to.equal(false);
  });
});
