/** The error a promise rejects with, for tests that look at its code and faults. */
import { HindsightError } from '../../src/errors.ts';

/** Fails when nothing was thrown, or something that is not ours. */
export async function rejection(work: Promise<unknown>): Promise<HindsightError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HindsightError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
