/** Which scripts a text is written in and how many model tokens it will cost; the first look of analysis, passages and the choice of vector space. */

/** One class per code point: what the token estimate and the passage cutter tell apart. */
export const CharClass = { space: 0, word: 1, single: 2, symbol: 3 } as const;
export type CharClass = (typeof CharClass)[keyof typeof CharClass];

const HAN = /\p{Script=Han}/u;
const HAN_EACH = /\p{Script=Han}/gu;
const LATIN_WORD = /\p{Script=Latin}{2,}/u;
const LATIN_WORD_EACH = /\p{Script=Latin}{2,}/gu;
const OTHER_LETTER_EACH = /[^\P{L}\p{Script=Latin}\p{Script=Han}]/gu;
const WORD_PART = /[\p{L}\p{N}\p{M}]/u;
const SPACE = /\s/u;

/** Does the text hold a Han character? Such text belongs in the zh vector space (retrieval.md, default spaces). */
export function hasHan(text: string): boolean {
  return HAN.test(text);
}

/** Does the text hold a word of two or more Latin letters? Such text belongs in the en vector space. */
export function hasLatinWord(text: string): boolean {
  return LATIN_WORD.test(text);
}

/**
 * The language label of a record. An English word weighs as two Han characters (the usual length of a Chinese word);
 * 80 % of the weight on one side names it, less is `mixed`; `other` when letters of further scripts prevail or there are none.
 * Every language in Latin script counts as `en`: analysis and vector space are chosen by script.
 */
export function language(text: string): 'zh' | 'en' | 'mixed' | 'other' {
  const han = countMatches(text, HAN_EACH);
  const latin = 2 * countMatches(text, LATIN_WORD_EACH);
  const other = countMatches(text, OTHER_LETTER_EACH);
  if (han + latin === 0 || other > han + 2 * latin) return 'other';
  const share = han / (han + latin);
  return share >= 0.8 ? 'zh' : share <= 0.2 ? 'en' : 'mixed';
}

function countMatches(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count++;
  return count;
}

/** Classes of the ASCII range, looked up instead of computed. */
const ASCII: readonly CharClass[] = Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(char) ? CharClass.word : SPACE.test(char) ? CharClass.space : CharClass.symbol;
});

/** The class of one code point: `single` is a character that is a token by itself (Han, kana, Hangul). */
export function charClass(codePoint: number): CharClass {
  if (codePoint < 128) return ASCII[codePoint] ?? CharClass.symbol;
  if (codePoint >= 0x4e00 && codePoint <= 0x9fff) return CharClass.single;
  if (codePoint >= 0x3041 && codePoint <= 0x30ff) return CharClass.single;
  if (codePoint >= 0xac00 && codePoint <= 0xd7a3) return CharClass.single;
  const char = String.fromCodePoint(codePoint);
  if (HAN.test(char)) return CharClass.single;
  if (WORD_PART.test(char)) return CharClass.word;
  return SPACE.test(char) ? CharClass.space : CharClass.symbol;
}
