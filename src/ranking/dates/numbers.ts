/** Numbers as dates write them: digits, Chinese numerals to 99, Chinese digit years, English words to twelve. */

const DIGITS = new Map([...'〇零一二三四五六七八九'].map((char, index) => [char, Math.max(0, index - 1)]));
DIGITS.set('两', 2);
const TENS = /^([一二两三四五六七八九])?(十|廿|卅)([一二三四五六七八九])?$/u;
const TEN_VALUES: Readonly<Record<string, number>> = { 十: 10, 廿: 20, 卅: 30 };

/** Pattern for a number of up to two figures, in digits or Chinese numerals. */
export const CHINESE_NUMBER = '(?:\\d{1,2}|[一二两三四五六七八九十廿卅]{1,3})';

/** The same without 两, which counts but never names a month or a day. */
export const CHINESE_ORDINAL = '(?:\\d{1,2}|[一二三四五六七八九十廿卅]{1,3})';

/** Value of digits or a Chinese numeral; NaN for what is none, as in 三五天 ("three to five days"). */
export function chineseNumber(text: string | undefined): number {
  if (text === undefined) return NaN;
  if (/^\d+$/.test(text)) return Number(text);
  const tens = TENS.exec(text);
  if (!tens) return text.length === 1 ? (DIGITS.get(text) ?? NaN) : NaN;
  const [, first, ten = '十', last] = tens;
  // 二廿 is no number; 二十 is.
  if (first !== undefined && ten !== '十') return NaN;
  return (
    (first === undefined ? 1 : (DIGITS.get(first) ?? NaN)) * (TEN_VALUES[ten] ?? NaN) + (last === undefined ? 0 : (DIGITS.get(last) ?? NaN))
  );
}

/** A year in digits or as 二〇二四; undefined when none is given. */
export function chineseYear(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : [...text].reduce((year, char) => year * 10 + (DIGITS.get(char) ?? NaN), 0);
}

const WORDS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** Pattern for a count: digits, words to twelve, "a", "an", "a couple of". */
export const ENGLISH_NUMBER = `(?:\\d{1,3}|an?|(?:a )?couple(?: of)?|${WORDS.join('|')})`;

/** Value of what ENGLISH_NUMBER matched. */
export function englishNumber(text: string | undefined): number {
  const word = (text ?? '').toLowerCase();
  if (/^\d+$/.test(word)) return Number(word);
  if (word === 'a' || word === 'an') return 1;
  return word.includes('couple') ? 2 : WORDS.indexOf(word) + 1 || NaN;
}
