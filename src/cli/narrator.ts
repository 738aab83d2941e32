/** Tells a person at a terminal how the start goes on: a line per step, and a sign of life while one takes long. */
import type { Progress } from '../elastic/local/artifacts.ts';

const QUIET_MS = 5_000;

export interface Narrator {
  progress(progress: Progress): void;
  /** A line that is no progress: a warning, a farewell. */
  say(line: string): void;
  /** No signs of life from now on. */
  stop(): void;
}

/** Lines go to `write`; after five seconds without any, one repeats what has been waited for longest. */
export function createNarrator(write: (text: string) => void, now: () => number = () => performance.now()): Narrator {
  /** Phases that are not over, oldest first, with the time they began. */
  const open = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    for (const [phase, since] of open) {
      write(`  … ${phase}: ${Math.round((now() - since) / 1_000)} s\n`);
      return;
    }
  };
  return {
    progress({ phase, message, done }) {
      clearInterval(timer);
      write(`- ${phase}: ${message}\n`);
      if (done === true) open.delete(phase);
      else if (!open.has(phase)) open.set(phase, now());
      timer = setInterval(tick, QUIET_MS).unref();
    },
    say: (line) => write(`${line}\n`),
    stop() {
      clearInterval(timer);
      open.clear();
    },
  };
}
