/** How long a pure call takes at best, so that what else the machine does is no part of it. */

const TRIES = 5;

/** Milliseconds of the quickest of five calls. What takes quadratic time takes it each time. */
export function fastestMs(call: () => unknown): number {
  const took = Array.from({ length: TRIES }, () => {
    const from = performance.now();
    call();
    return performance.now() - from;
  });
  return Math.min(...took);
}
