/** Script tests and clean cuts of text before it is embedded; used by the routing and by both providers. */

const HAN = /\p{Script=Han}/u;
/** Two letters or more: a lone letter (an option "A", a unit "m") is no word and would only add noise to the English space. */
const LATIN_WORD = /\p{Script=Latin}{2}/u;

/** True when the text holds a Han character (Chinese; also Japanese kanji). */
export function hasHan(text: string): boolean {
  return HAN.test(text);
}

/** True when the text holds a word of at least two Latin letters, accented and full-width ones included. */
export function hasLatinWord(text: string): boolean {
  return LATIN_WORD.test(text);
}

/**
 * The text without lone surrogates and runs of white space, cut to at most `maxUnits` UTF-16 units and never inside a
 * surrogate pair. Bounds the tokenizer's work: it reads the whole text before anything is truncated (130 ms for 100k
 * Han characters).
 */
export function cutText(text: string, maxUnits: number): string {
  // Four times the limit first, so that squeezing white space is bounded too.
  const squeezed = text.slice(0, maxUnits * 4).replace(/\s+/gu, ' ');
  return squeezed
    .slice(0, maxUnits)
    .replace(/[\uD800-\uDBFF]$/, '')
    .toWellFormed();
}
