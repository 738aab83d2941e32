/** Text spelled letter by letter, read as words; one reading of the text guard. Scanned by hand: as a pattern it took V8 seconds to compile. */

const WORD_CHAR = /[\p{L}\p{N}]/u;
/** Five letters at least, so that initials and short enumerations stay; at most four characters between two of them. */
const MIN_LETTERS = 5;
const MAX_MARK_CHARS = 4;

const isWordChar = (char: string): boolean => {
  const code = char.charCodeAt(0);
  if (code < 128) return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return WORD_CHAR.test(char);
};

/** `i g n o r e _ a l l` and `i|g|n| |a|l|l` joined to words: the narrowest gap goes, a wider one is a word's end. Linear. */
export function joinSpaced(text: string): string {
  if (!maySpell(text)) return text;
  const chars = [...text];
  const word = chars.map(isWordChar);
  let joined = '';
  let at = 0;
  while (at < chars.length) {
    const run = word[at] === true && word[at - 1] !== true ? runFrom(chars, word, at) : undefined;
    if (run === undefined) {
      joined += chars[at++];
      continue;
    }
    joined += joinRun(run);
    at = run.end;
  }
  return joined;
}

/** Whether single characters between others stand often enough: a quick look without a copy of the text, on the safe side. */
function maySpell(text: string): boolean {
  let singles = 0;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    if (isLetterLike(text.charCodeAt(at))) run += 1;
    else {
      if (run === 1 || run === 2) singles += 1;
      if (run > 2) singles = 0;
      run = 0;
      if (singles >= MIN_LETTERS - 1) return true;
    }
  }
  return false;
}

/** By ranges alone: a mark taken for a letter only costs the full look. Two units may be one character. */
function isLetterLike(code: number): boolean {
  if (code < 128) return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return !((code >= 0x2000 && code <= 0x2bff) || (code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xff65) || code < 0xc0);
}

interface Run {
  readonly letters: readonly string[];
  /** marks[i] stands between letters[i] and letters[i + 1]. */
  readonly marks: readonly string[];
  readonly end: number;
}

function runFrom(chars: readonly string[], word: readonly boolean[], start: number): Run | undefined {
  const letters: string[] = [];
  const marks: string[] = [];
  let at = start;
  while (word[at] === true && word[at + 1] !== true) {
    letters.push(chars[at] ?? '');
    let next = at + 1;
    while (next < chars.length && word[next] !== true && chars[next] !== '\n' && next - at <= MAX_MARK_CHARS) next++;
    const mark = chars.slice(at + 1, next).join('');
    // the run ends where no single letter follows
    if (word[next] !== true || word[next + 1] === true) return finished(letters, marks, at + 1);
    marks.push(mark);
    at = next;
  }
  return finished(letters, marks, at);
}

function finished(letters: readonly string[], marks: readonly string[], end: number): Run | undefined {
  return letters.length >= MIN_LETTERS ? { letters, marks, end } : undefined;
}

const KEPT_MARK = /^[@.:/'!?,。，、：-]$/;

function joinRun({ letters, marks }: Run): string {
  const narrow = marks.reduce((a, b) => (b.length < a.length ? b : a), marks[0] ?? '');
  return letters.map((letter, i) => letter + between(marks[i] ?? '', narrow)).join('');
}

/** Nothing for the gap between letters, a mark that was spaced like a letter, else the space between two words. */
function between(mark: string, narrow: string): string {
  if (mark === narrow || mark === '') return '';
  const inner =
    mark.startsWith(narrow) && mark.length > narrow.length
      ? mark.slice(narrow.length, Math.max(narrow.length, mark.length - narrow.length))
      : mark;
  return KEPT_MARK.test(inner) ? inner : ' ';
}
