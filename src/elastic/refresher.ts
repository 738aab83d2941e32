/** Refresh with coalescing: many waiting callers cost at most one running and one queued `_refresh` of an index. */
import type { Client } from '@elastic/elasticsearch';
import { isMissingIndex, mapStoreError, ANSWER } from './client.ts';

export interface Refresher {
  /** Everything acknowledged before this call is visible to searches when it resolves; a missing index is nothing to do. */
  refresh(index: string): Promise<void>;
}

export function createRefresher(client: Client): Refresher {
  const running = new Map<string, Promise<void>>();
  const queued = new Map<string, Promise<void>>();

  const start = (index: string): Promise<void> => {
    const run = refreshOnce(client, index).finally(() => {
      if (running.get(index) === run) running.delete(index);
    });
    running.set(index, run);
    return run;
  };

  return {
    refresh(index) {
      const now = running.get(index);
      if (now === undefined) return start(index);
      // The running one may have begun before this caller's write: only the one after it is sure to show it.
      let next = queued.get(index);
      if (next === undefined) {
        next = now
          .catch(() => undefined)
          .then(() => {
            queued.delete(index);
            return start(index);
          });
        queued.set(index, next);
      }
      return next;
    },
  };
}

async function refreshOnce(client: Client, index: string): Promise<void> {
  try {
    await client.indices.refresh({ index }, ANSWER);
  } catch (error) {
    if (!isMissingIndex(error)) throw mapStoreError(error);
  }
}
