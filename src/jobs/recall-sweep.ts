/** The sweep of the recall trace: deletes what is older than its 30 days; run by a worker of its own, now and then. */
import type { RecallStore } from '../domain/recall.ts';
import type { Job } from './worker.ts';

/** What is past its time is not shown in between. */
export const RECALL_SWEEP_MS = 3_600_000;
/** One search and one bulk of deletes by id, about 100 KB. */
const BATCH = 1_000;
/** The look-up is over all tenants. */
const EVERY_TENANT = '*';

/** One run deletes a batch; a store that is away pauses the worker. */
export function createRecallSweep(recalls: Pick<RecallStore, 'sweep'>): Job {
  return {
    name: 'recall-sweep',
    due: async () => [EVERY_TENANT],
    run: async () => ((await recalls.sweep(BATCH)) === BATCH ? 'more' : 'idle'),
  };
}
