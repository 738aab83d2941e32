/** Answers that must not tell by their time why they are what they are: invoke sends "there is no such memory" on a grid of time alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';

/**
 * Wider than what a look-up by id takes (3-8 ms, measured), so that all of them end in the same step: the record of somebody else is read
 * before it is refused, and 30,000 characters of it took longer than nothing in 65 % of pairs (guard.md, L7).
 */
const STEP_MS = 25;

/** Waits until the time since `startedAtMs` is a whole number of steps. */
export async function evenTime(startedAtMs: number, clock: Clock): Promise<void> {
  const tookMs = Math.max(0, clock() - startedAtMs);
  await sleep(STEP_MS - (tookMs % STEP_MS));
}
