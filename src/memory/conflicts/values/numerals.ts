/** Numbers in digits, English words and Chinese numerals, brought to one decimal spelling. */

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = '. . twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const ENGLISH = new Map<string, number>([
  ...ONES.map((word, value): [string, number] => [word, value]),
  ...TENS.map((word, tens): [string, number] => [word, 10 * tens]),
  ['dozen', 12],
]);
ENGLISH.delete('.');

const HAN_DIGITS = new Map([...'零一二三四五六七八九'].map((char, value): [string, number] => [char, value]));
HAN_DIGITS.set('〇', 0).set('两', 2);
const HAN_UNITS = new Map([
  ['十', 10],
  ['百', 100],
  ['千', 1_000],
  ['万', 10_000],
  ['亿', 100_000_000],
]);
const MULTIPLIERS = new Map([
  ['k', 1_000],
  ['thousand', 1_000],
  ['m', 1_000_000],
  ['million', 1_000_000],
  ['billion', 1_000_000_000],
  ['千', 1_000],
  ['万', 10_000],
  ['亿', 100_000_000],
]);

export const DIGITS = String.raw`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`;
export const ENGLISH_WORDS = `(?:${TENS.slice(2).join('|')})(?:-(?:${ONES.slice(1, 10).join('|')}))?|${[...ONES].reverse().join('|')}`;
export const HAN_NUMERALS = '[零〇一二两三四五六七八九十百千万亿]{1,9}';

/** The number in digits, without separators; undefined for what is none (三五, "three to five"). A decimal keeps its zeros: 2.10 is not 2.1. */
export function numberOf(written: string, multiplier?: string): string | undefined {
  const plain = written.toLowerCase().replaceAll(',', '');
  const value = /^\d/.test(plain) ? plain : (englishValue(plain) ?? hanValue(plain))?.toString();
  const times = multiplier === undefined ? undefined : MULTIPLIERS.get(multiplier.toLowerCase());
  if (value === undefined || times === undefined) return value;
  const product = Number(value) * times;
  return Number.isSafeInteger(Math.round(product)) && Math.abs(product - Math.round(product)) < 1e-6
    ? String(Math.round(product))
    : undefined;
}

function englishValue(written: string): number | undefined {
  const parts = written.split('-').map((part) => ENGLISH.get(part));
  return parts.includes(undefined) ? undefined : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

function hanValue(written: string): number | undefined {
  let [total, section, digit] = [0, 0, undefined as number | undefined];
  let fresh = true;
  for (const char of written) {
    const value = HAN_DIGITS.get(char);
    if (value !== undefined) {
      if (!fresh && digit !== 0 && value !== 0) return undefined;
      digit = value;
      fresh = false;
      continue;
    }
    const unit = HAN_UNITS.get(char);
    if (unit === undefined) return undefined;
    if (unit >= 10_000) {
      total = (total + section + (digit ?? (section === 0 ? 1 : 0))) * unit;
      section = 0;
    } else section += (digit ?? 1) * unit;
    digit = undefined;
    fresh = true;
  }
  return total + section + (digit ?? 0);
}
