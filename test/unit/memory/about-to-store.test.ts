/** What a call is told before the store is asked: its results as they will be, once, and nothing while anything else is open. */
import { expect } from 'chai';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { HindsightError } from '../../../src/errors.ts';
import { callFacts } from '../../../src/operations/audit-facts.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { rejection } from '../../support/rejection.ts';

interface Told {
  readonly foretold: (readonly WriteResult[])[];
  readonly results: readonly WriteResult[];
  /** Memories that were there when the call was told. */
  readonly stored: number[];
}

async function told(world: World, input: WriteInput, more: { idempotencyKey?: string } = {}): Promise<Told> {
  const foretold: (readonly WriteResult[])[] = [];
  const stored: number[] = [];
  const aboutToStore = (results: readonly WriteResult[]): void => {
    foretold.push(results);
    stored.push(world.index.heads.size);
  };
  const { results } = await world.memory.write(input, world.call(undefined, { ...more, aboutToStore }));
  return { foretold, results, stored };
}

const saysTheSame = ({ foretold, results }: Told): void => {
  expect(foretold).to.have.length(1);
  expect(callFacts(undefined, { results: foretold[0] })).to.deep.equal(callFacts(undefined, { results }));
};

describe('memory write, about to store', () => {
  it('tells of the results before anything is stored, and they come true', async () => {
    const world = createWorld();
    const one = await told(world, { content: 'Ann likes green tea.' });
    expect([one.stored, one.results[0]?.outcome]).to.deep.equal([[0], 'stored']);
    saysTheSame(one);
    saysTheSame(await told(world, { content: 'Ann likes black coffee.', admission: 'keep' }));
    saysTheSame(await told(world, { content: 'the door code is on 13912345678', kind: 'fact' }, { idempotencyKey: 'k1' }));
  });

  it('tells of a batch with faulty items and those that nothing is stored of', async () => {
    const batch = await told(createWorld(), {
      items: [{ content: 'Ann likes green tea.' }, { content: 7 }, { content: 'Bob rides a red bicycle to work.', kind: 'fact' }],
    });
    expect(batch.results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'invalid', 'stored']);
    saysTheSame(batch);
  });

  it('tells of what it replaces', async () => {
    const world = createWorld();
    const slot = { subject: 'Ann', topic: 'home city', kind: 'fact' } as const;
    const first = await told(world, { content: 'Ann lives in Oslo.', ...slot });
    const moved = await told(world, { content: 'Ann lives in Rome.', ...slot });
    expect(moved.results[0]).to.deep.include({ outcome: 'replaced', replaced: [first.results[0]?.memory_id] });
    saysTheSame(moved);
  });

  it('is silent where nothing is stored, an item waits for another, a part of the call goes elsewhere, or it is stored in groups', async () => {
    const world = createWorld();
    await told(world, { content: 'Ann likes green tea.' });
    const silent = async (input: WriteInput): Promise<void> => {
      expect((await told(world, input)).foretold).to.deep.equal([]);
    };
    await silent({ content: 'ann likes green tea' });
    await silent({ items: [{ content: 'The bridge opens in May.' }, { content: 'the bridge opens in May' }] });
    await silent({
      items: [{ content: 'The canal opens in June.' }, { content: 'Step one is done.', layer: 'working', session_id: 's1' }],
    });
    await silent({ items: Array.from({ length: 130 }, (_v, i) => ({ content: `Locker ${i} holds parcel ${i * 7}.`, admission: 'keep' })) });
  });

  it('tells a repeat under its key nothing, for what happened has been told', async () => {
    const world = createWorld();
    const key = { idempotencyKey: 'k1' };
    const first = await told(world, { content: 'Ann likes green tea.' }, key);
    const again = await told(world, { content: 'Ann likes green tea.' }, key);
    expect([first.foretold.length, again.foretold.length]).to.deep.equal([1, 0]);
    expect(again.results).to.deep.equal(first.results);
  });

  it('stores nothing when it is stopped, and the repeat of the call does', async () => {
    const world = createWorld();
    const key = { idempotencyKey: 'k1' };
    const stop = (): void => {
      throw new HindsightError('ERR_AUDIT_UNAVAILABLE');
    };
    const input = { content: 'Ann likes green tea.' };
    const error = await rejection(world.memory.write(input, world.call(undefined, { ...key, aboutToStore: stop })));
    expect([error.code, world.index.heads.size]).to.deep.equal(['ERR_AUDIT_UNAVAILABLE', 0]);
    saysTheSame(await told(world, input, key));
    expect(world.index.heads.size).to.equal(1);
  });
});
