/** The idempotency sweep: deletes the records of Idempotency-Keys whose time is over; run by a worker of its own, now and then. */
import type { IdempotencyStore } from '../domain/ports.ts';
import type { Job } from './worker.ts';

/**
 * An expired key counts as new without the sweep, so that only the index grows in between: at 100 keyed writes a second ten minutes are
 * 60,000 small records.
 */
export const IDEMPOTENCY_SWEEP_MS = 600_000;
/** One search and one bulk of deletes by id, about 100 KB. */
const BATCH = 1_000;
/** The index holds the keys of all tenants. */
const EVERY_TENANT = '*';

/** One run deletes a batch; a store that is away pauses the worker. */
export function createIdempotencySweep(idempotency: Pick<IdempotencyStore, 'sweep'>): Job {
  return {
    name: 'idempotency-sweep',
    due: async () => [EVERY_TENANT],
    run: async () => ((await idempotency.sweep(BATCH)) === BATCH ? 'more' : 'idle'),
  };
}
