/** A memory that was held back and let in into a slot which has moved on since: what the decision answers is what is stored. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { WriteInput } from '../../../src/domain/wire/write.ts';
import { takeSlot } from '../../../src/memory/conflicts/take-slot.ts';
import { approvedAnswer } from '../../../src/memory/decided.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';

const home = (content: string): WriteInput => ({ content, kind: 'fact', subject: 'Ann', topic: 'residence' });

/** Paris waited while Rome was said, and is let in now. */
async function letIn(): Promise<{ readonly world: World; readonly paris: MemoryRecord; readonly romeId: string | null | undefined }> {
  const world = createWorld();
  const { results: first } = await world.memory.write(home('Ann lives in Paris'), world.call());
  const said = world.index.heads.get(first[0]?.memory_id ?? '')?.record as MemoryRecord;
  world.time.nowMs += 60_000;
  const { results: second } = await world.memory.write(home('Ann lives in Rome'), world.call());
  const { superseded_by: _by, reason: _why, ...rest } = said;
  const paris = { ...rest, status: 'active' as const, version: 7 };
  world.index.plant(paris);
  return { world, paris, romeId: second[0]?.memory_id };
}

describe('an approved memory whose slot has moved on', () => {
  it('is superseded in the version that its end made, whatever changed it in between', async () => {
    const { world, paris, romeId } = await letIn();
    let first = true;
    world.index.before = (method) => {
      if (method !== 'saveVersion' || !first) return;
      first = false;
      // another process tells it of a contradiction meanwhile
      world.index.plant({ ...paris, version: 8 });
    };
    const taken = await takeSlot(world.deps, createTurnLinks(world.deps), world.call(), paris, { waited: true });
    const stored = world.index.heads.get(paris.memory_id)?.record;
    expect(stored).to.include({ status: 'superseded', superseded_by: romeId, version: 9 });
    expect(approvedAnswer(paris, 7, 4, taken)).to.include({ status: 'superseded', version: 9, superseded_by: romeId });
  });

  it('is active in its own version where nothing was said since', async () => {
    const { paris } = await letIn();
    expect(approvedAnswer(paris, 7, 4, {}))
      .to.include({ status: 'active', version: 7 })
      .and.not.to.have.property('superseded_by');
  });
});
