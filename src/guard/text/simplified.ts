/** Chinese text in simplified characters (OpenCC), for the text guard's readings; text that is simplified already is seen to be so at a look. */
import { Converter } from 'opencc-js/t2cn';

// The package's types name a module without its ending, which Node's resolution does not take: the result has no type.
const converter: unknown = Converter({ from: 't', to: 'cn' });
const convert = converter as (text: string) => string;

/** Characters that change only within some words of the dictionary (its test holds this list against it). */
const CHANGED_IN_WORDS = new Set('坏瞭藉覆沈哩甦衹');

const Kind = { unknown: 0, same: 1, changed: 2 } as const;
/** What is known of the characters of the basic plane. */
const kinds = new Uint8Array(0x10000);
/** Nothing before it is in the dictionary. */
const FIRST_HAN = 0x2e80;

/** The same text in simplified characters. */
export function toSimplified(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= FIRST_HAN && mayChange(unit)) return convert(text);
  }
  return text;
}

function mayChange(unit: number): boolean {
  // half of a character outside the plane
  if (unit >= 0xd800 && unit <= 0xdfff) return true;
  if (kinds[unit] === Kind.unknown) {
    const char = String.fromCharCode(unit);
    kinds[unit] = convert(char) !== char || CHANGED_IN_WORDS.has(char) ? Kind.changed : Kind.same;
  }
  return kinds[unit] === Kind.changed;
}
