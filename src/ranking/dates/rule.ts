/** The shape of one date rule: a pattern, and what it means. Rules are data, read in order by parseDates. */
import type { DateCollector } from './collector.ts';

export interface DateRule {
  /** Expressions it is for; a test checks that it reads each of them. */
  examples: readonly string[];
  /** Global, over NFKC text with single spaces; no nested repetition, so that a match stays linear. */
  pattern: RegExp;
  /** Adds the ranges; false when it is no date after all, and then later rules may read it. */
  read: (groups: Readonly<Record<string, string | undefined>>, collector: DateCollector) => boolean;
}

/** A four-digit year, 1900 to 2099, that is not part of a longer number. */
export const YEAR = String.raw`(?:19|20)\d\d(?!\d)`;
