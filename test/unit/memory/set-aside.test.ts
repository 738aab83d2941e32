import { expect } from 'chai';
import { SCOPES } from '../../../src/domain/principal.ts';
import type { WriteResult } from '../../../src/domain/wire/write.ts';
import { refOf } from '../../../src/memory/conflicts/meet.ts';
import { createSetAside } from '../../../src/memory/set-aside.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

const home = (content: string) => ({ content, kind: 'fact' as const, subject: 'Ann', topic: 'residence' });

async function aside(status: 'quarantined' | 'rejected'): Promise<{ world: World; first: WriteResult | undefined }> {
  const world = createWorld();
  const [first] = (await world.memory.write(home('Ann lives in Paris'), world.call())).results;
  const record = world.index.heads.get(first?.memory_id ?? '')?.record;
  if (record === undefined) throw new Error('not stored');
  const setAside = createSetAside(world.deps, createTurnLinks(world.deps));
  expect(await setAside(refOf(record), () => ({ status, reason: 'a rule of today' }))).to.equal('done');
  return { world, first };
}

describe('a memory that is set aside', () => {
  it('gives its slot up, and stands for its text among what is held back when it is quarantined', async () => {
    const { world, first } = await aside('quarantined');
    const [claim, ...more] = world.slots.all();
    expect(more).to.deep.equal([]);
    expect(claim?.document).to.deep.include({ slot_type: 'fingerprint', memory_id: first?.memory_id });
  });

  it('keeps no claim when it is rejected', async () => {
    const { world } = await aside('rejected');
    expect(world.slots.all()).to.deep.equal([]);
  });
});

describe('a summary of a memory that is set aside', () => {
  it('goes with it, and comes back when a person lets that in again', async () => {
    const world = createWorld();
    const user = world.call(principal({ actor: 'user', scopes: [...SCOPES, 'memory:confirm'] }));
    const [first] = (await world.memory.write({ content: 'The safe code of the archive is on the red card.', admission: 'keep' }, user))
      .results;
    const summary = (await world.memory.summarize({ store: true }, user)).results?.[0]?.memory_id ?? '';
    const source = world.index.heads.get(first?.memory_id ?? '')?.record;
    if (source === undefined) throw new Error('not stored');
    const setAside = createSetAside(world.deps, createTurnLinks(world.deps));
    await setAside(refOf(source), () => ({ status: 'quarantined', reason: 'a rule of today' }));
    expect(world.index.heads.get(summary)?.record).to.include({ status: 'forgotten', reason: 'a memory that it sums up is held back' });
    const [item] = (await world.memory.listForReview('quarantined', {}, user)).items;
    const decision = { memory_id: source.memory_id, decision: 'approve' as const, content_hash: item?.content_hash ?? '' };
    await world.memory.decide('quarantined', decision, user);
    expect(world.index.heads.get(summary)?.record.status).to.equal('active');
  });
});
