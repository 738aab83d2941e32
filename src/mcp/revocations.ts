/** Sessions that their owner has ended: a port, so that several replicas can share the set. */
import type { Clock } from '../domain/clock.ts';

export interface Revocations {
  /** `until`, in ms since the epoch, is when the id ends by itself. */
  add(nonce: string, until: number): Promise<void>;
  has(nonce: string): Promise<boolean>;
}

const MAX_ENTRIES = 100_000;

/**
 * The set of one process. At the cap the oldest entries go first: their owner could then use an id that they gave up, which gives
 * nothing that the token beside it does not give.
 */
export function createLocalRevocations(clock: Clock, maxEntries = MAX_ENTRIES): Revocations {
  const ends = new Map<string, number>();
  return {
    add: async (nonce, until) => {
      const now = clock();
      for (const [oldest, end] of ends) {
        if (end > now && ends.size < maxEntries) break;
        ends.delete(oldest);
      }
      ends.set(nonce, until);
    },
    has: async (nonce) => ends.has(nonce),
  };
}
