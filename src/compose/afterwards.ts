/** Work that no answer waits for (memory/conflicts/aftermath): counted, so that a stop waits for it. */

export interface Afterwards {
  /** `work` never throws; its signal fires when the process stops. */
  run(work: (signal: AbortSignal) => Promise<void>): void;
  /** Hurries what is under way, and resolves when all of it is done. */
  close(): Promise<void>;
}

export function createAfterwards(): Afterwards {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    run(work) {
      const one = work(stopping.signal).finally(() => running.delete(one));
      running.add(one);
    },
    async close() {
      stopping.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
