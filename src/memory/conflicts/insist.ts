/** Work behind an answer that has to be done in the end: at once, and where the store fails again and again behind the scenes; memory/conflicts/{conflicts,aftermath} call it. */
import type { MemoryDeps } from '../deps.ts';

/**
 * True when the work is done, false where it failed: then `again`, or the work itself, is tried until it is done. Never throws; each failure
 * is told. Without `afterwards` nothing is tried again.
 */
export type Insist = (work: () => Promise<void>, again?: () => Promise<void>) => Promise<boolean>;

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
/** About an hour: whoever comes to a store after that finds what the slot repair found. */
const TRIES = 64;
/** Of one service at a time: a store that is away for long must not fill the memory of a process. */
const WAITING_MAX = 500;

/** By the service's own queue, of which there is one. */
const services = new WeakMap<object, { count: number }>();

function waitingOf(afterwards: MemoryDeps['afterwards']): { count: number } {
  if (afterwards === undefined) return { count: 0 };
  const waiting = services.get(afterwards) ?? { count: 0 };
  services.set(afterwards, waiting);
  return waiting;
}

export function createInsist({ sleep, afterwards, onDegraded }: Pick<MemoryDeps, 'sleep' | 'afterwards' | 'onDegraded'>): Insist {
  const waiting = waitingOf(afterwards);
  const isDone = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      onDegraded?.('marks', error);
      return false;
    }
  };
  return async (work, again = work) => {
    if (await isDone(work)) return true;
    if (afterwards === undefined || waiting.count >= WAITING_MAX) return false;
    waiting.count += 1;
    afterwards(async (signal) => {
      let pauseMs = FIRST_PAUSE_MS;
      for (let tries = 0; tries < TRIES; tries += 1) {
        await sleep(pauseMs, signal).catch(() => undefined);
        // a stop hurries it: once more, and no longer
        if ((await isDone(again)) || signal.aborted) break;
        pauseMs = Math.min(LAST_PAUSE_MS, 2 * pauseMs);
      }
      waiting.count -= 1;
    });
    return false;
  };
}
