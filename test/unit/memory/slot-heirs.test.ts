/** A slot whose memory has ended in another one's place outside of the slot: whoever stands for it is met by the next value. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { createWorld, type World } from '../../support/memory-world.ts';

const home = (city: string): WriteInput => ({ content: `Ann lives in ${city}`, kind: 'fact', subject: 'Ann', topic: 'residence' });

async function write(world: World, city: string): Promise<WriteResult> {
  const { results } = await world.memory.write(home(city), world.call());
  return results[0] as WriteResult;
}

const stored = (world: World, { memory_id: id }: WriteResult): MemoryRecord => world.index.heads.get(id ?? '')?.record as MemoryRecord;

/** Paris, which has lost its place, and Rome, which has the slot; a minute later, so that both are looked for in the index alone. */
async function two(world: World): Promise<readonly [MemoryRecord, MemoryRecord]> {
  const paris = await write(world, 'Paris');
  const rome = await write(world, 'Rome');
  world.time.nowMs += 60_000;
  return [stored(world, paris), stored(world, rome)];
}

const ended = (one: MemoryRecord, by: MemoryRecord, nowMs: number): MemoryRecord => ({
  ...one,
  status: 'superseded',
  superseded_by: by.memory_id,
  updated_at: new Date(nowMs).toISOString(),
});
const back = ({ superseded_by: _by, reason: _reason, ...rest }: MemoryRecord): MemoryRecord => ({ ...rest, status: 'active' });
/** Nothing is found by its words: the slot alone tells of it. */
const unlike = (one: MemoryRecord): MemoryRecord => ({ ...one, lex_uni: 'nothing of the kind' });

describe('a slot whose memory ended in another one’s place', () => {
  it('is that one’s: the next value takes its place', async () => {
    const world = createWorld();
    const [paris, rome] = await two(world);
    world.index.plant(ended(rome, paris, world.time.nowMs));
    world.index.plant(unlike(back(paris)));
    const oslo = await write(world, 'Oslo');
    expect(oslo).to.deep.include({ outcome: 'replaced', replaced: [paris.memory_id] });
    expect(world.index.heads.get(paris.memory_id)?.record).to.include({ status: 'superseded', superseded_by: oslo.memory_id });
  });

  it('is waited for where that one has ended in its place at the same moment, until one of them is back', async () => {
    let pauses = 0;
    const world = createWorld({ deps: { sleep: async () => bringBack() } });
    const [paris, rome] = await two(world);
    world.index.plant(unlike(ended(rome, paris, world.time.nowMs)));
    world.index.plant(ended(paris, rome, world.time.nowMs));
    async function bringBack(): Promise<void> {
      pauses += 1;
      world.index.plant(unlike(back(rome)));
    }
    const oslo = await write(world, 'Oslo');
    expect(pauses).to.equal(1);
    expect(oslo).to.deep.include({ outcome: 'replaced', replaced: [rome.memory_id] });
  });

  it('is free where both have long been over', async () => {
    const world = createWorld();
    const [paris, rome] = await two(world);
    world.index.plant(ended(rome, paris, world.time.nowMs - 50_000));
    world.index.plant(ended(paris, rome, world.time.nowMs - 50_000));
    const oslo = await write(world, 'Oslo');
    expect(oslo.outcome).to.equal('stored');
  });
});
