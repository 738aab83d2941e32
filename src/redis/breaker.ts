/** One circuit breaker for all use of Redis: the first failure opens it, so that an outage costs one waiting call and not one each. */
import type { Clock } from '../domain/clock.ts';

export const BREAKER_OPEN_MS = 5_000;
/** A frozen Redis costs one call this long: with what else a call does its answer comes in under 300 ms. */
const CALL_TIMEOUT_MS = 150;

export interface Breaker {
  /**
   * `call()`, or `fallback()` when the breaker is open, or the call fails or takes longer than 150 ms. A failure opens it for 5 s;
   * after that one call is let through as a probe while the others still take the fallback.
   */
  run<T>(call: () => Promise<T>, fallback: () => T | Promise<T>): Promise<T>;
  /** Opens it from outside: the connection was lost with no call on its way. */
  readonly trip: (error: unknown) => void;
  readonly isOpen: boolean;
  /** The last call went well: no probe is due. */
  readonly isTrusted: boolean;
  /** Until when (ms since the epoch) it was last open; -Infinity if never. */
  readonly openUntilMs: number;
}

/** `onOpen` is told of each failure that opens it: log and metrics. */
export function createBreaker(parts: { readonly clock: Clock; readonly onOpen: (error: unknown) => void }): Breaker {
  const { clock, onOpen } = parts;
  let openUntilMs = -Infinity;
  /** True from the failure on until a call went well: then only one call at a time may try. */
  let tripped = false;
  let probing = false;

  const isOpen = (): boolean => clock() < openUntilMs;
  const trip = (error: unknown): void => {
    const wasOpen = isOpen();
    openUntilMs = clock() + BREAKER_OPEN_MS;
    tripped = true;
    if (!wasOpen) onOpen(error);
  };
  return {
    trip,
    get isOpen() {
      return isOpen();
    },
    get isTrusted() {
      return !tripped;
    },
    get openUntilMs() {
      return openUntilMs;
    },
    async run(call, fallback) {
      if (isOpen() || (tripped && probing)) return fallback();
      const isProbe = tripped;
      if (isProbe) probing = true;
      try {
        const answer = await inTime(call());
        // a call that was on its way when the breaker opened does not close it
        if (isProbe) tripped = false;
        return answer;
      } catch (error) {
        trip(error);
      } finally {
        if (isProbe) probing = false;
      }
      return fallback();
    },
  };
}

/**
 * The answer, or an error after the time-out. Timers come before sockets in the event loop, so an answer that arrived while this process
 * was busy with something long is still read first: only Redis itself is to be found late.
 */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(new Error(`no answer in ${CALL_TIMEOUT_MS} ms`))), CALL_TIMEOUT_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
