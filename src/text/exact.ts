/** What of a question has to be found to the letter: strong codes and quoted phrases, else rare names, for the exact clause of the one query. */
import { codes } from './codes.ts';
import { namesIn } from './names.ts';
import { queryTerms } from './query-terms.ts';

/**
 * One thing that a record holds or does not hold; a phrase by all its stems and Han bigrams, as the index keeps no positions, and a name
 * likewise, where few records hold it.
 */
export type ExactItem =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'phrase' | 'name'; readonly uni: readonly string[]; readonly bi: readonly string[] };

/** A pasted log holds dozens of codes; the first ones are enough to know it by. */
const MAX_ITEMS = 8;
const MIN_CODE_LENGTH = 4;
const MIN_DIGITS = 4;
/** Of four digits a year, or a round number; many records hold the same ones. */
const YEAR_OR_ROUND = /^(?:(?:1[5-9]|20)\d{2}|\d{2}00)$/;
/** A longer quotation is found by its words and its meaning. */
const MAX_PHRASE_TERMS = 32;
const MAX_QUOTED_SHARE = 0.9;

/** Quotation marks of both scripts, and title marks; apostrophes open no quotation. */
const QUOTED = /"([^"\n]{2,80})"|“([^”\n]{2,80})”|「([^」\n]{2,80})」|『([^』\n]{2,80})』/gu;
const TITLED = /《([^》\n]{2,80})》/gu;

/** Written with digits, but dates, times, ranges and amounts rather than identifiers: many records hold the same ones. */
const COMMON: readonly RegExp[] = [
  /^(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])$/, // 20240504
  /^(?:19|20)\d{2}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:t[\d:.+z-]*)?$/, // 2024-05-04, 2024/5, an ISO time
  /^\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}$/, // 4/5/2024, 04.05.24
  /^\d{1,2}(?:[:/]\d{1,2}){1,2}$/, // 10:30, 5/4
  /^\d+(?:\.\d+)?(?:[-~]\d{1,4}(?:\.\d+)?)?%?$/, // 3.5, 50-60, 2023-2024; whole numbers are judged by their length
  /^\d+(?:[.-]\d+)?[a-z]{1,4}$/, // 10am, 5kg, 1980s, 100km
  /^\d{1,4}(?:st|nd|rd|th)?-[a-z]{3,}(?:-[a-z]+)*$/, // 3-year-old, 18th-century
  /^[a-z]{3,}-(?:19|20)\d{2}s?$/, // mid-2023
];

/**
 * At most 8 items in question order: codes of at least 4 characters that are no date, time or amount, numbers of at least 4 digits;
 * phrases in quotation marks with at least two terms, and titles in 《》. Years, round and short numbers are none: they tell no record from another. A
 * question without any of these wants its names, if they are rare.
 */
export function exactItems(question: string): ExactItem[] {
  const strong = codes(question).filter(isStrong);
  const phrases = [...quoted(question, QUOTED, 2), ...quoted(question, TITLED, 1)];
  const items = [...strong.map((code) => ({ kind: 'code', code }) as const), ...phrases];
  return items.length > 0 ? items.slice(0, MAX_ITEMS) : namesIn(question).map((name) => ({ kind: 'name', ...name }));
}

function isStrong(code: string): boolean {
  if (/^\d+$/.test(code)) return code.length >= MIN_DIGITS && !YEAR_OR_ROUND.test(code) && COMMON[0]?.test(code) !== true;
  return code.length >= MIN_CODE_LENGTH && !COMMON.some((pattern) => pattern.test(code));
}

function quoted(question: string, marks: RegExp, least: number): ExactItem[] {
  return [...question.matchAll(marks)].flatMap((found): ExactItem[] => {
    // a question that stands in quotation marks as a whole quotes nothing
    if (found[0].length > MAX_QUOTED_SHARE * question.trim().length) return [];
    const { uni, bi } = queryTerms(found.slice(1).find((text) => text !== undefined) ?? '');
    const terms = uni.length + bi.length;
    return terms < least || terms > MAX_PHRASE_TERMS ? [] : [{ kind: 'phrase', uni, bi }];
  });
}
