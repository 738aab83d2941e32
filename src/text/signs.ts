/** Which marks of a text say something: ≥, ✅, flags, brackets, `!cache`, the `.` of .5; commas and quotes between words do not. Used wherever two texts are called the same. */

/** Punctuation that only parts or dresses what is said; marks that mean something beside a number or a negation are read below. */
const DRESS = /[\p{Pi}\p{Pf}\p{Ps}\p{Pe}\p{Pd}\p{Pc}.,;:!'"…·•‧、。`´®©¡¿¨]/u;
const MARK = /[\p{S}\p{P}]/u;
/** What they enclose is grouped: (A or B) and C. A half-open range is told from an open one, :) from :(. */
const BRACKET = /[()[\]{}]/u;
const NUMBER_BEFORE = /[\p{N}∞]$/u;
const NUMBER_AFTER = /^(?:[-+−]?\p{N}|∞)/u;

/** The sign that the character at `at` (UTF-16 units) is; undefined for a letter, and for a mark that changes nothing. `text` is in one form (NFKC). */
export function signIn(text: string, at: number): { readonly char: string; readonly sign: string | undefined } {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (!MARK.test(char)) return { char, sign: undefined };
  const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(at + char.length, at + char.length + 3)];
  return { char, sign: readSign(char, before, after) };
}

function readSign(char: string, before: string, after: string): string | undefined {
  if (char === '-' || BRACKET.test(char) || !DRESS.test(char)) return char;
  // minus five, five to ten, 2:1, .5, five feet and five inches
  if (/\p{Pd}/u.test(char)) return NUMBER_AFTER.test(after) || NUMBER_BEFORE.test(before) ? '-' : undefined;
  if (/[.,:]/.test(char))
    return /^\p{N}/u.test(after) && (/(?:^|[\s\p{P}\p{S}])$/u.test(before) || /\p{N}$/u.test(before)) ? char : undefined;
  if (/['"]/.test(char)) return NUMBER_BEFORE.test(before) ? char : undefined;
  if (char === '!') return denies(before, after) ? char : undefined;
  return undefined;
}

/** The ! of `!cache`, `x != y`, `5! = 120`; not that of "Hello!". */
function denies(before: string, after: string): boolean {
  if (/^=/.test(after)) return true;
  if (/^ ?[=*/+-]/.test(after)) return /\p{N}$/u.test(before);
  return /(?:^|[\s([{"'=,:&|!-])$/u.test(before) && /^[\p{L}\p{N}_$([{"'!-]/u.test(after);
}

/** Invisible letters that make a black flag that of England or of Scotland. */
const FLAG_TAGS = /(?<=\u{1F3F4})[\u{E0020}-\u{E007F}]+/gu;

/** The same text with the letters of such flags to be seen, before invisible characters are taken out. */
export function spelledFlags(text: string): string {
  return text.replace(FLAG_TAGS, (tags) => [...tags].map((tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000)).join(''));
}
