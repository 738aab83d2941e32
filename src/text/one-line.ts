/** A text on one line, for lists in which each line is one entry: what stands in it cannot begin a line of its own. */

const LINE_ENDS = /[\n\r\u000b\u000c\u0085\u2028\u2029]+/u;
const BLANKS = /[^\S\n]+/u;
/** Han, kana and full-width marks stand without a blank beside each other. */
const WIDE = /[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]/u;

/** Line ends become a blank, or nothing between wide characters; runs of blanks become one. Idempotent, linear. */
export function oneLine(text: string): string {
  let line = '';
  for (const part of text.split(LINE_ENDS)) {
    const words = part
      .split(BLANKS)
      .filter((word) => word !== '')
      .join(' ');
    if (words === '') continue;
    const joint = line === '' || (WIDE.test(line.slice(-1)) && WIDE.test(words.slice(0, 1))) ? '' : ' ';
    line += joint + words;
  }
  return line;
}
