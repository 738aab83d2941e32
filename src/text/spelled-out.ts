/** Text as a person judges it: what does not show, turns text round or moves a cursor is spelled <U+…>; read where held-back writes are decided on. */

/** Control, format and other characters without a shape, separators of lines and paragraphs, blanks that look like letters; not line feed and tab. */
const UNSEEN =
  /[^\P{C}\n\t]|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2028\u2029\u2800\u3164\ufe00-\ufe0f\uffa0]|[\u{e0100}-\u{e01ef}]/gu;

/**
 * What makes a link, an image, HTML, code, a table, emphasis or an escape in the dialects of Markdown that chat clients render. `_` within a
 * word does nothing. `<` is among them, so that no text can pretend to be a spelling.
 */
const FORMATTING = /[[\]<>`*~|\\]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#|[a-zA-Z])/gu;

/** More marks than any script stacks on one letter. */
const STACKED_MARKS = /(?<=\p{M}{3})\p{M}/gu;

const ACTIVE = new RegExp([UNSEEN, FORMATTING, STACKED_MARKS].map(({ source }) => source).join('|'), 'gu');

const codeOf = (char: string): string => `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** The same text, nothing in it unseen. Linear in the text. */
export function spelledOut(text: string): string {
  return text.replace(UNSEEN, codeOf);
}

/** The same, and nothing that a client which renders Markdown could act on either: it looks alike there and in a plain window. */
export function spelledForMarkdown(text: string): string {
  return text.replace(ACTIVE, codeOf);
}
