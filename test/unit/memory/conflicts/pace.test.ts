import { expect } from 'chai';
import { paced } from '../../../../src/memory/conflicts/pace.ts';

/** How often others had their turn while it worked. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let done = false;
  const tick = (): void => {
    turns += 1;
    if (!done) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  done = true;
  return turns;
}

describe('the pace of comparing', () => {
  it('gives others a turn for each slice of work, and none before', async () => {
    const pace = paced(10);
    expect(
      await turnsDuring(async () => {
        for (let i = 0; i < 9; i += 1) await pace(1);
      }),
    ).to.equal(0);
    expect(
      await turnsDuring(async () => {
        for (let i = 0; i < 40; i += 1) await pace(1);
      }),
    ).to.be.at.least(4);
  });
});
