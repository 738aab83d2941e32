/** The sweep of pending writes: rejects what nobody decided on in time; run by a worker of its own, now and then. */
import { isoTime, type Clock } from '../domain/clock.ts';
import { PENDING_LIFE_MS, type MemoryRecord } from '../domain/memory.ts';
import type { ExpiredPending, MemoryIndex, RecordRef } from '../domain/ports.ts';
import type { Job } from './worker.ts';

export interface PendingSweepOptions {
  readonly pending: ExpiredPending;
  readonly index: Pick<MemoryIndex, 'refresh'>;
  /** memory/set-aside. */
  readonly setAside: (
    ref: RecordRef,
    decide: (head: MemoryRecord) => { readonly status: 'rejected'; readonly reason: string } | undefined,
  ) => Promise<'done' | 'left' | 'moved'>;
  readonly clock: Clock;
  readonly onExpired?: (tenant: string, memoryId: string) => void;
}

/** Nobody sees them any more once their time is over: the sweep writes down what is so already. */
export const PENDING_SWEEP_MS = 600_000;
/** Each costs four small requests. */
const BATCH = 200;
/** A record that an embed job moves meanwhile stands still after a few tries; otherwise the next sweep finds it. */
const MAX_TRIES = 5;
/** The look-up is over all tenants. */
const EVERY_TENANT = '*';

/** One run ends a batch; a store that is away pauses the worker. */
export function createPendingSweep({ pending, index, setAside, clock, onExpired }: PendingSweepOptions): Job {
  return {
    name: 'pending-sweep',
    due: async () => [EVERY_TENANT],
    run: async (_tenant, { signal }) => {
      const until = isoTime(clock() - PENDING_LIFE_MS);
      const found = await pending.createdUntil(until, BATCH);
      const changed = new Set<string>();
      for (const ref of found) {
        if (signal.aborted) return 'idle';
        let outcome: Awaited<ReturnType<typeof setAside>> = 'moved';
        for (let tries = 0; outcome === 'moved' && tries < MAX_TRIES; tries += 1)
          outcome = await setAside(ref, (head) =>
            head.status === 'pending' && head.created_at <= until ? { status: 'rejected', reason: 'expired' } : undefined,
          );
        if (outcome !== 'done') continue;
        changed.add(ref.tenant);
        onExpired?.(ref.tenant, ref.memory_id);
      }
      if (found.length < BATCH || changed.size === 0) return 'idle';
      // the next batch must not find these again
      for (const tenant of changed) await index.refresh(tenant);
      return 'more';
    },
  };
}
