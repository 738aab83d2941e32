import { expect } from 'chai';
import { createIdempotencySweep } from '../../../src/jobs/idempotency-sweep.ts';

describe('jobs/idempotency-sweep', () => {
  it('goes on while batches come back full, and rests after the first that does not', async () => {
    const left = [1_000, 1_000, 3];
    const job = createIdempotencySweep({ sweep: async (limit) => Math.min(limit, left.shift() ?? 0) });
    const [every] = await job.due();
    const run = () => job.run(every ?? '', { nudged: false, signal: new AbortController().signal });
    expect([await run(), await run(), await run()]).to.deep.equal(['more', 'more', 'idle']);
  });
});
