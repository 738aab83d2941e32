/** Which scripts a text is written in and how many model tokens it will cost; the first look of analysis, passages and the choice of vector space. */

/** One class per code point: what the token estimate and the passage cutter tell apart. */
export const CharClass = { space: 0, word: 1, single: 2, symbol: 3 } as const;
export type CharClass = (typeof CharClass)[keyof typeof CharClass];

const HAN = /\p{Script=Han}/u;
const LATIN = /\p{Script=Latin}/u;
const LATIN_WORD = /\p{Script=Latin}{2,}/u;
const LETTER = /\p{L}/u;
const WORD_PART = /[\p{L}\p{N}\p{M}]/u;
const SPACE = /\s/u;
/** No Han character comes before it. */
const FIRST_HAN = 0x2e80;

/** Does the text hold a Han character? Such text belongs in the zh vector space (retrieval.md, default spaces). */
export function hasHan(text: string): boolean {
  return HAN.test(text);
}

/** The same of a term, which is Han throughout or not at all. */
export function isHanTerm(term: string): boolean {
  return term.charCodeAt(0) >= FIRST_HAN && HAN.test(term);
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
  let [han, words, other, run] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const codePoint = text.codePointAt(at) ?? 0;
    if (codePoint > 0xffff) at += 1;
    const script = scriptOf(codePoint);
    run = script === Script.latin ? run + 1 : 0;
    if (run === 2) words += 1;
    else if (script === Script.han) han += 1;
    else if (script === Script.otherLetter) other += 1;
  }
  const latin = 2 * words;
  if (han + latin === 0 || other > han + 2 * latin) return 'other';
  const share = han / (han + latin);
  return share >= 0.8 ? 'zh' : share <= 0.2 ? 'en' : 'mixed';
}

const Script = { unknown: 0, none: 1, han: 2, latin: 3, otherLetter: 4 } as const;
type Script = (typeof Script)[keyof typeof Script];

/** Of the characters of the basic plane met so far: a pattern for every character of a text was a tenth of its analysis. */
const scripts = new Uint8Array(0x10000);

function scriptOf(codePoint: number): Script {
  const known = scripts[codePoint];
  if (known !== undefined && known !== Script.unknown) return known as Script;
  const char = String.fromCodePoint(codePoint);
  const script = HAN.test(char) ? Script.han : LATIN.test(char) ? Script.latin : LETTER.test(char) ? Script.otherLetter : Script.none;
  if (known !== undefined) scripts[codePoint] = script;
  return script;
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
  if (scriptOf(codePoint) === Script.han) return CharClass.single;
  if (WORD_PART.test(char)) return CharClass.word;
  return SPACE.test(char) ? CharClass.space : CharClass.symbol;
}
