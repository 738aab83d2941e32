/** Calls of one process that claim the same text or slot go one after the other: at once each but one would lose its claim and look again, round after round. */

export interface Line {
  /** Runs `work` when every earlier call with one of these keys has ended, however it ended. Errors: those of `work`. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** Keys are taken all at once, in the order of the calls, so that no two wait for each other. */
export function createLine(): Line {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(keys, work) {
      const before = keys.flatMap((key) => last.get(key) ?? []);
      const done = Promise.allSettled(before).then(work);
      for (const key of keys) last.set(key, done);
      try {
        return await done;
      } finally {
        for (const key of keys) if (last.get(key) === done) last.delete(key);
      }
    },
  };
}
