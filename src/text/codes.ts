/** Exact identifiers and numbers of a text for the `codes` keyword field, so that "port 5432" finds 5432 and not 5433. */

const MAX_CODES = 64;
const MAX_CODE_LENGTH = 128;
/** Enough for a text full of codes; the rest of a longer one is still found by its words. */
const MAX_TEXT_LENGTH = 100_000;

/** A run of characters that codes, addresses and paths are made of. Ends are trimmed by hand: a pattern for both would backtrack. */
const CANDIDATE = /[A-Za-z0-9][A-Za-z0-9._@:/+#?=&%~-]*/g;
/** Telephone numbers written in groups: +86 138-0013-8000, (555) 123-4567, 138 0013 8000. Kept as digits alone. */
const PHONES = [
  /\+\d{1,3}(?:[ -]?\(\d{2,4}\))?(?:[ -]?\d{2,4}){2,4}(?!\d)/g,
  /\(\d{2,4}\) ?\d{3,4}[ -]\d{4}(?!\d)/g,
  /(?<![\d-])\d{3}[ -]\d{3,4}[ -]\d{4}(?![\d-])/g,
];
/** Thousands separators, read before NFKC so that a full-width comma between two numbers is none: 1,234,567 is one number. */
const GROUPED_NUMBER = /(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])/g;
/** Where a compound code holds further codes: `10.0.0.1:9200`, `order:A-8841`, `https://host/a?id=77`. */
const PART_SEPARATOR = /[:/?=&#@]+/;

/** Is this whole run worth an exact match? */
const KINDS: readonly ((run: string) => boolean)[] = [
  (run) => /\d/.test(run) && (run.length >= 3 || /[A-Za-z]/.test(run)) && !/^\d+(?:st|nd|rd|th)$/i.test(run), // 5432, v2.3.1, A-8841, 5G
  (run) => /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(run), // e-mail
  (run) => /^[a-z][a-z0-9+.-]*:\/\/.|^www\../i.test(run), // URL
  (run) => /[A-Za-z0-9]_[A-Za-z0-9]/.test(run), // ERR_CONN_RESET, user_name
  (run) => /^[a-z0-9-]{2,}(?:\.[a-z0-9-]{2,})*\.[a-z]{2,5}$/.test(run), // example.com, docker-compose.yml
];

/**
 * Distinct codes in text order, lower-cased, NFKC: identifiers and numbers with a digit, e-mail and IP addresses, URLs, file and
 * host names, snake_case names, telephone numbers as digits; of a compound code also its parts with a digit.
 * At most 64 codes of at most 128 characters (a longer one is cut, on both sides of a search alike).
 */
export function codes(text: string): string[] {
  const plain = text
    .slice(0, MAX_TEXT_LENGTH)
    .replace(GROUPED_NUMBER, (number) => number.replaceAll(',', ''))
    .normalize('NFKC');
  const found = new Set<string>();
  const add = (code: string): void => {
    if (found.size < MAX_CODES) found.add(code.slice(0, MAX_CODE_LENGTH).toLowerCase());
  };
  for (const match of plain.matchAll(CANDIDATE)) {
    if (found.size >= MAX_CODES) break;
    const run = trimEnd(match[0]);
    // A pasted blob is cut before the tests, so that each test reads a bounded string.
    const bounded = run.slice(0, 4 * MAX_CODE_LENGTH);
    if (!KINDS.some((is) => is(bounded))) continue;
    add(bounded);
    const parts = bounded.split(PART_SEPARATOR);
    if (parts.length > 1) for (const part of parts.map(trimEnds)) if (KINDS[0]?.(part)) add(part);
  }
  for (const phone of PHONES) for (const [written] of plain.matchAll(phone)) add(written.replace(/\D/g, ''));
  return [...found];
}

const isAlphanumeric = (char: string): boolean => /[A-Za-z0-9]/.test(char);

function trimEnd(run: string): string {
  let end = run.length;
  while (end > 0 && !isAlphanumeric(run.charAt(end - 1))) end--;
  return run.slice(0, end);
}

function trimEnds(run: string): string {
  let start = 0;
  while (start < run.length && !isAlphanumeric(run.charAt(start))) start++;
  return trimEnd(run.slice(start));
}
