import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { unwrapped } from '../../../src/guard/envelope.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const day = (n: number): string => `2026-02-${String(n).padStart(2, '0')}T00:00:00.000Z`;

/** A memory through its versions, the last of which is the head. */
function plant(world: World, ...versions: readonly Partial<MemoryRecord>[]): MemoryRecord {
  const base = memoryRecord({ lex_uni: 'drink' });
  const all = versions.map((fields, i) => ({
    ...base,
    created_at: versions[0]?.valid_from ?? day(1),
    version: i + 1,
    fingerprint: fields.content ?? '',
    ...fields,
  }));
  all.slice(0, -1).forEach((record, i) => world.index.plantVersion({ ...record, valid_to: all[i + 1]?.valid_from ?? day(28) }));
  const head = all.at(-1) ?? base;
  world.index.plant(head);
  return head;
}
const then = async (world: World, as_of: string, input: object = {}, by = principal()) =>
  (await world.memory.search({ query: 'drink', as_of, ...input }, world.call(by))).hits;

describe('memory search as of a time', () => {
  it('brings what was held then, one version a memory, with the time it held', async () => {
    const world = createWorld();
    const changed = plant(world, { content: 'drink tea', valid_from: day(1) }, { content: 'drink coffee', valid_from: day(10) });
    const later = plant(world, { content: 'drink water', valid_from: day(20), subject: 'other' });
    expect(await then(world, '2026-01-31T00:00:00.000Z')).to.deep.equal([]);
    const [tea, ...more] = await then(world, day(5));
    expect(tea).to.include({ memory_id: changed.memory_id, content: 'drink tea', version: 1, valid_from: day(1), valid_to: day(10) });
    expect(more).to.deep.equal([]);
    const [coffee] = await then(world, day(10));
    expect(coffee)
      .to.include({ content: 'drink coffee', version: 2, valid_from: day(10) })
      .and.not.to.have.property('valid_to');
    expect((await then(world, day(21))).map((hit) => hit.memory_id)).to.have.members([changed.memory_id, later.memory_id]);
  });

  it('goes by the status of then: what was superseded since was held, what was superseded by then was not', async () => {
    const world = createWorld();
    plant(world, { content: 'drink tea', valid_from: day(1) }, { content: 'drink tea', status: 'superseded', valid_from: day(10) });
    expect((await then(world, day(5)))[0]).to.include({ content: 'drink tea', status: 'active' });
    expect(await then(world, day(11))).to.deep.equal([]);
    expect((await then(world, day(11), { include_superseded: true }))[0]).to.include({ content: 'drink tea', status: 'superseded' });
  });

  it('never shows what was forgotten or held back since, what has expired, or what the caller may not see now', async () => {
    const world = createWorld();
    const shared = { namespace: 'shared.team', visibility: 'shared' } as const;
    const first = { content: 'secret', valid_from: day(1), ...shared };
    for (const last of [
      { status: 'forgotten' },
      { status: 'quarantined' },
      { status: 'rejected' },
      { visibility: 'private' },
      { expires_at: day(20) },
    ] satisfies readonly Partial<MemoryRecord>[])
      plant(world, first, { ...first, content: 'secret too', valid_from: day(10), ...last });
    plant(world, { ...first, status: 'quarantined' }, { ...first, content: 'drink released', valid_from: day(10) });
    plant(world, { ...first, visibility: 'private' }, { ...first, content: 'drink shared', valid_from: day(10) });
    const bob = principal({ sub: 'bob', namespaces: ['shared.**'] });
    expect(await then(world, day(5), { namespaces: ['shared.team'], top_k: 20 }, bob)).to.deep.equal([]);
    const contents = (await then(world, day(11), { namespaces: ['shared.team'], top_k: 20 }, bob)).map((hit) => {
      // another one's words
      expect(hit.reference_only).to.equal(true);
      return unwrapped(hit.content);
    });
    expect(contents).to.have.members(['drink released', 'drink shared']);
  });

  it('applies the caller’s filter to the version of then, and counts nothing as accessed', async () => {
    const world = createWorld();
    plant(world, { content: 'drink tea', tags: ['old'], valid_from: day(1) }, { content: 'drink tea', tags: ['new'], valid_from: day(10) });
    expect(await then(world, day(5), { filter: { tags: ['new'] } })).to.deep.equal([]);
    expect(await then(world, day(5), { filter: { tags: ['old'] } })).to.have.length(1);
    expect(world.accessed).to.deep.equal([]);
  });

  it('refuses a time to come, and one before all that is asked for', async () => {
    const world = createWorld();
    const pointer = async (input: object) =>
      (await rejection(world.memory.search({ query: 'drink', ...input }, world.call()))).faults[0]?.pointer;
    expect(await pointer({ as_of: '2026-03-01T12:00:00.001Z' })).to.equal('/as_of');
    expect(await pointer({ as_of: day(1), filter: { created: { gte: day(2) } } })).to.equal('/as_of');
    await then(world, '2026-03-01T13:00:00.000+01:00');
  });
});
