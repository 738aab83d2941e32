/** Signs of life for a call whose client gave a progress token: without them many clients give up on a call after a minute. */

/** Params of notifications/progress. */
export interface Progress {
  readonly progressToken: string | number;
  /** Seconds that the call has run, so it grows with every notification; how many it will take is not known. */
  readonly progress: number;
  readonly message: string;
}

/** Calls `run` every `ms` until its answer is called. */
export type Every = (ms: number, run: () => void) => () => void;

const TICK_MS = 1_000;

/** Undefined where the client did not ask for progress. */
export function progressTokenOf(meta: unknown): string | number | undefined {
  const token = (meta as { readonly progressToken?: unknown } | undefined)?.progressToken;
  return typeof token === 'string' || Number.isInteger(token) ? (token as string | number) : undefined;
}

/** Tells `send` once a second that the call goes on; the answer ends it. Short calls send nothing. */
export function tellProgress(
  every: Every,
  token: string | number | undefined,
  name: unknown,
  send: (progress: Progress) => void,
): () => void {
  if (token === undefined) return () => undefined;
  let seconds = 0;
  return every(TICK_MS, () => {
    seconds += TICK_MS / 1_000;
    send({ progressToken: token, progress: seconds, message: `${String(name)}: ${seconds} s` });
  });
}

export function startTimer(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => clearInterval(timer);
}
