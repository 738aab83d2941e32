/** Tells random values from words, patterns and placeholders; what detectors without a check digit decide by. */

/** Shannon entropy in bits a character; at most the first 256 characters are looked at. */
export function entropy(value: string): number {
  const text = value.slice(0, 256);
  if (text.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (value: string): boolean => UUID.test(value);

const HEX = /^[0-9a-f]+$/i;
export const isHex = (value: string): boolean => HEX.test(value);

/** Random as keys are: letters and digits, hardly a character often. Words with a number behind them are not. */
export function isRandom(value: string, leastBits = 3): boolean {
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  // letters and digits that change places, or both cases throughout
  const turns = value.match(/[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z]/g)?.length ?? 0;
  return turns >= 3 && entropy(value) >= leastBits;
}

const PLACEHOLDER =
  /^(?:[<[{(%$].*|.*[}>]|\$\w+|%\w+%?|[*x•●_#.?-]+|(?:your|my|the|some|new|old|test|example|sample|dummy|fake|placeholder|change|replace|insert|todo|tbd|fixme|redacted|masked|hidden|removed|omitted|n\/a)(?:[_-].*|me|this)?|\.{3,}|…+)$/i;
const REPEATED = /(.)\1{5,}/;

/** Stands for a value and is none: variables, stars, your_key_here, xxxx. */
export function isPlaceholder(value: string): boolean {
  return (
    PLACEHOLDER.test(value) ||
    REPEATED.test(value) ||
    /your[_-]?\w{0,20}[_-]?(?:key|token|secret|password)|example|placeholder/i.test(value)
  );
}
