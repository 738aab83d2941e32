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

/** Lines go to `write`; after five seconds without any, one repeats what is being waited for and for how long. */
export function createNarrator(write: (text: string) => void, now: () => number = () => performance.now()): Narrator {
  let waitingFor: string | undefined;
  let since = now();
  let timer: NodeJS.Timeout | undefined;
  const rest = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const tick = (): void => {
    if (waitingFor !== undefined) write(`  … ${waitingFor}: ${Math.round((now() - since) / 1_000)} s\n`);
  };
  return {
    progress({ phase, message }) {
      rest();
      if (waitingFor !== phase) since = now();
      waitingFor = phase;
      write(`- ${phase}: ${message}\n`);
      timer = setInterval(tick, QUIET_MS).unref();
    },
    say: (line) => write(`${line}\n`),
    stop() {
      rest();
      waitingFor = undefined;
    },
  };
}
