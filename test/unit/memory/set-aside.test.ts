import { expect } from 'chai';
import type { WriteResult } from '../../../src/domain/wire/write.ts';
import { refOf } from '../../../src/memory/conflicts/meet.ts';
import { createSetAside } from '../../../src/memory/set-aside.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';

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
