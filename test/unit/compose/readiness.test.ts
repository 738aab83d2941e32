/** What /readyz asks of the cluster, and how often. */
import { expect } from 'chai';
import { createReadiness } from '../../../src/compose/readiness.ts';
import type { StoreClient } from '../../../src/elastic/client.ts';

function setUp() {
  const state = { nowMs: 1_000, status: 'green', fails: false };
  const asked: unknown[] = [];
  const health = async (request: unknown): Promise<{ status: string }> => {
    asked.push(request);
    if (state.fails) throw new Error('away');
    return { status: state.status };
  };
  const ready = createReadiness({ client: { cluster: { health } } as unknown as StoreClient, prefix: 'hs', clock: () => state.nowMs });
  return { state, asked, ready };
}

describe('createReadiness', () => {
  it('asks about the indices of this service alone', async () => {
    const { ready, asked } = setUp();
    await ready();
    expect(asked[0]).to.include({ index: 'hs-*' });
  });

  it('takes yellow, and refuses red and a cluster that does not answer', async () => {
    const { ready, state } = setUp();
    const answers: boolean[] = [];
    for (const status of ['green', 'yellow', 'red', 'away']) {
      state.nowMs += 1_000;
      Object.assign(state, { status, fails: status === 'away' });
      answers.push(await ready());
    }
    expect(answers).to.deep.equal([true, true, false, false]);
  });

  it('asks once a second, however many probes come, good news or bad', async () => {
    const { ready, state, asked } = setUp();
    state.status = 'red';
    expect(await Promise.all([ready(), ready()])).to.deep.equal([false, false]);
    state.nowMs += 999;
    expect(await ready()).to.equal(false);
    expect(asked).to.have.length(1);
    state.nowMs += 1;
    state.status = 'green';
    expect(await ready()).to.equal(true);
    expect(asked).to.have.length(2);
    state.nowMs -= 500; // a clock set back must not keep an answer for long
    await ready();
    expect(asked).to.have.length(3);
  });
});
