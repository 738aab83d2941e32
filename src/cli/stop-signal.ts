/** Ctrl-C and kill: the first asks for a clean stop, a second one does not wait for it. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What comes so soon after the first is the same Ctrl-C: the terminal sends it to npm and to us, and npm passes it on. */
const SAME_MS = 1_000;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export interface StopSignal {
  /** Resolves with the exit code by which a shell would know the signal. */
  readonly asked: Promise<number>;
}

/** Listens from now on. `onFirst` is called once; a second signal ends the process at once (exit code 128 + signal). */
export function listenForStop(onFirst: () => void, now: () => number = () => performance.now()): StopSignal {
  let askedAt: number | undefined;
  const asked = new Promise<number>((resolve) => {
    for (const signal of SIGNALS)
      process.on(signal, () => {
        if (askedAt === undefined) {
          askedAt = now();
          onFirst();
          resolve(EXIT_CODES[signal]);
        } else if (now() - askedAt > SAME_MS) process.exit(EXIT_CODES[signal]);
      });
  });
  return { asked };
}
