/** Calls of one process that claim the same text or slot go one after the other: at once each but one would lose its claim and look again, round after round. */

export interface Line {
  /** Runs `work` when every earlier call with one of these keys has ended, however it ended, or `patience` has. Errors: those of `work`. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
}

/**
 * Keys are taken all at once, in the order of the calls, so that no two wait for each other. `patience` resolves when a call has waited
 * long enough, or at once when its signal fires: beside one that hangs the claims decide.
 */
export function createLine(patience: (signal: AbortSignal) => Promise<void>): Line {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(keys, work) {
      const before = keys.flatMap((key) => last.get(key) ?? []);
      const done = (before.length === 0 ? Promise.resolve() : ended(before, patience)).then(work);
      for (const key of keys) last.set(key, done);
      try {
        return await done;
      } finally {
        for (const key of keys) if (last.get(key) === done) last.delete(key);
      }
    },
  };
}

async function ended(before: readonly Promise<unknown>[], patience: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([Promise.allSettled(before), patience(waiting.signal).catch(() => undefined)]);
  waiting.abort();
}
