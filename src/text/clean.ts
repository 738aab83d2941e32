/** What a text must be before it is stored, and the fingerprint by which an exact repeat is known; used at admission. */
import { createHash } from 'node:crypto';
import { foldCase } from './case.ts';

/** The first reason why a text cannot be stored and given back unchanged: a NUL, or half a surrogate pair; null when there is none. */
export function findUnstorable(text: string): 'nul' | 'lone_surrogate' | null {
  if (text.includes('\u0000')) return 'nul';
  return text.isWellFormed() ? null : 'lone_surrogate';
}

/** Sub- and superscript digits, which NFKC would join to the digits before them: 10² would equal 102. */
const RAISED_DIGIT = /[⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉]+/gu;
const WHITE_SPACE = /\s+/gu;
/** Marks that end a sentence without changing what it says. Brackets, signs and symbols (`f()`, `-5`, `C++`, `5%`) stay. */
const END_MARKS = new Set(' .,!?;:。、…｡');
const CLAIM_END_MARKS = new Set([...END_MARKS].filter((mark) => mark !== '?'));
/** Quotes around the whole text, opening to closing. */
const QUOTES = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['「', '」'],
  ['『', '』'],
]);

/**
 * The form in which texts are counted, grouped and searched as alike: NFKC, lower case, white space folded, end punctuation and enclosing
 * quotes off. Idempotent. Everything else is kept, so "port 5432" and "port 5433" stay two.
 */
export function normaliseForFingerprint(text: string): string {
  return normalise(text, (written) => written.toLowerCase(), END_MARKS);
}

/**
 * The form two texts share when they say the same thing in the same words: as above, but a question keeps its mark, and a word like
 * `dQw4w9WgXcQ` its case (text/case). Idempotent.
 */
export function sameWordsForm(text: string): string {
  return normalise(text, foldCase, CLAIM_END_MARKS);
}

function normalise(text: string, fold: (written: string) => string, endMarks: ReadonlySet<string>): string {
  const spelled = text.replace(RAISED_DIGIT, (digits) => `^${digits}`);
  const folded = fold(spelled.normalize('NFKC')).normalize('NFKC').replace(WHITE_SPACE, ' ');
  let start = 0;
  let end = folded.length;
  for (let changed = true; changed;) {
    changed = false;
    while (start < end && folded[start] === ' ') start++;
    while (end > start && endMarks.has(folded.charAt(end - 1))) end--;
    if (end - start > 1 && QUOTES.get(folded.charAt(start)) === folded.charAt(end - 1)) {
      start++;
      end--;
      changed = true;
    }
  }
  // A text of nothing but marks must not equal every other such text.
  return end > start ? folded.slice(start, end) : folded;
}

/** A fingerprint of an older form equals none of this one: what it called the same may be two. */
const FORM = '2\0';

/** SHA-256 of the form of the same words, base64url, 43 characters. */
export function fingerprint(text: string): string {
  return createHash('sha256')
    .update(FORM + sameWordsForm(text), 'utf8')
    .digest('base64url');
}
