/** The injected clock: the only place in src that reads the wall clock. */

/** Milliseconds since the epoch, UTC. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** ISO 8601 UTC with milliseconds, the one date spelling of wire and index. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
