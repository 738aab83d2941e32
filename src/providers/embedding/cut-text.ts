/** Bounds and cleans a text before it goes to a model; used by both providers. */

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
