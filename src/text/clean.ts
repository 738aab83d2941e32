/** What a text must be before it is stored, and the fingerprint by which an exact repeat is known; used at admission. */
import { createHash } from 'node:crypto';

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
 * The form two texts share when they say the same thing in the same words: NFKC, lower case, white space folded, end punctuation
 * and enclosing quotes off. Idempotent. Everything else is kept, so "port 5432" and "port 5433" stay two memories.
 */
export function normaliseForFingerprint(text: string): string {
  const spelled = text.replace(RAISED_DIGIT, (digits) => `^${digits}`);
  const folded = spelled.normalize('NFKC').toLowerCase().normalize('NFKC').replace(WHITE_SPACE, ' ');
  let start = 0;
  let end = folded.length;
  for (let changed = true; changed;) {
    changed = false;
    while (start < end && folded[start] === ' ') start++;
    while (end > start && END_MARKS.has(folded.charAt(end - 1))) end--;
    if (end - start > 1 && QUOTES.get(folded.charAt(start)) === folded.charAt(end - 1)) {
      start++;
      end--;
      changed = true;
    }
  }
  // A text of nothing but marks must not equal every other such text.
  return end > start ? folded.slice(start, end) : folded;
}

/** SHA-256 of the normalised text, base64url, 43 characters. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(normaliseForFingerprint(text), 'utf8').digest('base64url');
}
