/** One finding of the doctor: what was looked at, how it is, and what to do where it is not well. */
import type { Words } from '../command-spec.ts';

export type Health = 'ok' | 'warn' | 'fail' | 'skip';

export interface Finding {
  readonly check: string;
  readonly health: Health;
  readonly found: Words;
  /** What to do. */
  readonly fix?: Words;
}

export const finding = (check: string, health: Health, found: Words, fix?: Words): Finding => ({
  check,
  health,
  found,
  ...(fix === undefined ? {} : { fix }),
});
