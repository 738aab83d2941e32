/** States of waiting calls that were used: each is good once. A port, so that several replicas can share the set (redis/used-states.ts). */
import type { Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';

export interface UsedStates {
  /** True for the first who takes the id, in one step; it is kept until `untilMs` (ms since the epoch). Throws where that cannot be told. */
  take(id: string, untilMs: number): Promise<boolean>;
}

const MAX_ENTRIES = 100_000;

/** The set of one process. Full of ids that have not ended, it takes no more (ERR_BUSY): one that was put out could be used again. */
export function processUsedStates(clock: Clock, maxEntries = MAX_ENTRIES): UsedStates {
  const ends = new Map<string, number>();
  return {
    take: async (id, untilMs) => {
      const now = clock();
      for (const [oldest, end] of ends) {
        if (end > now) break;
        ends.delete(oldest);
      }
      if (ends.has(id)) return false;
      if (ends.size >= maxEntries) throw new HindsightError('ERR_BUSY');
      ends.set(id, untilMs);
      return true;
    },
  };
}
