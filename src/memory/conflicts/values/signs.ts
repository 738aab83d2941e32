/** Which marks of a plain text say something: ≥, ✅, flags, brackets, `!cache`, the `.` of .5; commas and quotes between words do not. */
import type { Token } from './token.ts';

/** Punctuation that only parts or dresses what is said; marks that mean something beside a number or a negation are read below. */
const DRESS = /[\p{Pi}\p{Pf}\p{Ps}\p{Pe}\p{Pd}\p{Pc}.,;:!'"…·•‧、。`´®©¡¿¨]/u;
const MARK = /[\p{S}\p{P}]/u;
/** What they enclose is grouped: (A or B) and C. A half-open range is told from an open one, :) from :(. */
const BRACKET = /[()[\]{}]/u;
const NUMBER_BEFORE = /[\p{N}∞]$/u;
const NUMBER_AFTER = /^(?:[-+−]?\p{N}|∞)/u;

/** The sign that stands here; undefined for a mark that changes nothing. A run of the same one is as many signs. */
export function signAt(plain: string, at: number): Token | undefined {
  const char = String.fromCodePoint(plain.codePointAt(at) ?? 0);
  if (!MARK.test(char)) return undefined;
  const text = readSign(char, plain.slice(Math.max(0, at - 2), at), plain.slice(at + char.length, at + char.length + 3));
  return text === undefined ? undefined : { type: 'sign', text, start: at, end: at + char.length, capital: false };
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

/** Marks that part a negation from what stands beside it: "no, sugar" is not "no sugar", nor 不,可以 what 不可以 is. */
const PAUSE = /^[要是用行对会能可必了准许]?[\s"']*[.,;:!?()[\]{}、。…—–]/u;
const PAUSE_BEFORE = /[.,;:!?()[\]{}、。…—–][\s"']*$/u;
/** Text of the sign that stands for a pause. */
export const PAUSED = 'pause';
const END = /^[要是用行对会能可必了准许]?[\s.!?。…"']*$/u;

/** A negation with the pauses around it as signs; brackets are signs already. */
export function pausesAround(plain: string, not: Token): readonly Token[] {
  const before = PAUSE_BEFORE.exec(plain.slice(Math.max(0, not.start - 4), not.start));
  const rest = plain.slice(not.end, not.end + 4);
  const after = PAUSE.test(rest) && !(END.test(rest) && not.end + 4 >= plain.length);
  const pause = (at: number): Token => ({ type: 'sign', text: PAUSED, start: at, end: at, capital: false });
  return [...(before === null || not.start === 0 ? [] : [pause(not.start)]), not, ...(after ? [pause(not.end)] : [])];
}
