/** What a match of a pattern can begin with, read off the pattern itself; start-index.ts looks for these beginnings in a text. */

/** One beginning. */
export interface Start {
  readonly text: string;
  /** True: the text is all that has to match so far; false: more may follow, of which nothing is known. */
  readonly whole: boolean;
  /** What has to stand before it: anything, the boundary of a word, or nothing at all. */
  readonly before: 'any' | 'boundary' | 'nothing';
}

/** Longer beginnings would rule out little more and take more memory. */
const MAX_CHARS = 5;
/** More beginnings than this are cut at the part that made them so many. */
const MAX_STARTS = 256;
/** A wider range of a class is taken as "anything". */
const MAX_RANGE = 256;

const NOTHING: readonly Start[] = [{ text: '', whole: true, before: 'any' }];
const ANYTHING: readonly Start[] = [{ text: '', whole: false, before: 'any' }];
const BOUNDARY: readonly Start[] = [{ text: '', whole: true, before: 'boundary' }];
const FRONT: readonly Start[] = [{ text: '', whole: true, before: 'nothing' }];

const DIGITS = '0123456789';
const WORD_CHARS = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ${DIGITS}_`;
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };

/**
 * Beginnings of which every match of the pattern has one: a superset, never one too few. For patterns without flags that change what a
 * character is (i, u, v). Undefined when a match can begin with anything, or when the pattern uses what this does not read (back
 * references, named groups, properties, escapes by code).
 */
export function startsOf(source: string): readonly Start[] | undefined {
  try {
    const starts = new Reader(source).pattern();
    return starts.some(({ text, before }) => text === '' && before !== 'nothing') ? undefined : starts;
  } catch (error) {
    if (error instanceof Unread) return undefined;
    throw error;
  }
}

class Unread extends Error {}

/** Recursive descent over one pattern (ECMA-262, 22.2.1, what the policies use of it), beginnings instead of a tree. */
class Reader {
  readonly #source: string;
  #at = 0;
  /** True: what comes next changes no beginning, and is read only to find its end. */
  #past = false;

  constructor(source: string) {
    this.#source = source;
  }

  pattern(): readonly Start[] {
    const starts = this.#alternatives();
    if (this.#at < this.#source.length) throw new Unread();
    return starts;
  }

  #alternatives(): readonly Start[] {
    const all = [this.#sequence()];
    while (this.#take('|')) all.push(this.#sequence());
    return distinct(all.flat());
  }

  #sequence(): readonly Start[] {
    const past = this.#past;
    const ended: Start[] = [];
    let starts = NOTHING;
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) {
      if (this.#past) {
        this.#term();
        continue;
      }
      starts = joined(starts, this.#term());
      // what nothing can follow is set aside
      if (starts.some(({ whole }) => !whole)) {
        for (const start of starts) if (!start.whole) ended.push(start);
        starts = starts.filter(({ whole }) => whole);
      }
      this.#past = starts.length === 0;
    }
    this.#past = past;
    return distinct([...ended, ...starts]);
  }

  #term(): readonly Start[] {
    const atom = this.#atom();
    const [min, max] = this.#quantifier();
    if (this.#past || (min === 1 && max === 1)) return atom;
    let starts = NOTHING;
    for (let i = 0; i < Math.min(min, MAX_CHARS); i += 1) starts = joined(starts, atom);
    if (min > MAX_CHARS) starts = opened(starts);
    return max > min ? distinct([...starts, ...joined(starts, max === min + 1 ? atom : opened(atom))]) : starts;
  }

  #atom(): readonly Start[] {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return this.#characterClass();
    if (this.#take('.')) return ANYTHING;
    if (this.#take('^')) return FRONT;
    if (this.#take('$')) return NOTHING;
    if (this.#take('\\')) return this.#escape();
    const char = this.#next();
    return this.#past ? NOTHING : oneOf(char);
  }

  #group(): readonly Start[] {
    // what only looks around takes no place: without it there are more beginnings, never fewer
    const looks = ['?=', '?!', '?<=', '?<!'].some((opening) => this.#take(opening));
    if (!looks && !this.#take('?:') && this.#source.charAt(this.#at) === '?') throw new Unread();
    const past = this.#past;
    this.#past ||= looks;
    const starts = this.#alternatives();
    this.#past = past;
    if (!this.#take(')')) throw new Unread();
    return looks ? NOTHING : starts;
  }

  #escape(): readonly Start[] {
    const char = this.#next();
    if (char === 'b') return BOUNDARY;
    if (char === 'B') return NOTHING;
    const chars = escaped(char);
    if (this.#past) return NOTHING;
    return chars === undefined ? ANYTHING : oneOf(chars);
  }

  #characterClass(): readonly Start[] {
    const others = this.#take('^');
    let chars: string | undefined = '';
    while (!this.#take(']')) {
      const from = this.#classAtom();
      const range = this.#source.charAt(this.#at) === '-' && this.#source.charAt(this.#at + 1) !== ']';
      if (range) this.#at += 1;
      const more: string | undefined = range ? between(from, this.#classAtom()) : from;
      chars = chars === undefined || more === undefined ? undefined : chars + more;
    }
    if (this.#past) return NOTHING;
    return others || chars === undefined ? ANYTHING : oneOf(chars);
  }

  #classAtom(): string | undefined {
    if (!this.#take('\\')) return this.#next();
    const char = this.#next();
    if (char === 'b') return '\b';
    return char === '-' ? char : escaped(char);
  }

  #quantifier(): readonly [min: number, max: number] {
    const [all, few, from, comma, to] = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(this.#source.slice(this.#at, this.#at + 24)) ?? [''];
    this.#at += all.length;
    if (few !== undefined) return [few === '+' ? 1 : 0, few === '?' ? 1 : Infinity];
    if (from === undefined) return [1, 1];
    return [Number(from), comma === undefined ? Number(from) : to === '' ? Infinity : Number(to)];
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #next(): string {
    if (this.#at >= this.#source.length) throw new Unread();
    return this.#source.charAt(this.#at++);
  }
}

/** Characters that an escape stands for; undefined when they are too many to name. */
function escaped(char: string): string | undefined {
  if (char === 'd') return DIGITS;
  if (char === 'w') return WORD_CHARS;
  if ('DWSs'.includes(char)) return undefined;
  if (CONTROLS[char] !== undefined) return CONTROLS[char];
  if (/[a-zA-Z0-9]/.test(char)) throw new Unread();
  return char;
}

function between(from: string | undefined, to: string | undefined): string | undefined {
  if (from?.length !== 1 || to?.length !== 1) return undefined;
  const [first, last] = [from.charCodeAt(0), to.charCodeAt(0)];
  if (last - first > MAX_RANGE) return undefined;
  return Array.from({ length: last - first + 1 }, (_, i) => String.fromCharCode(first + i)).join('');
}

const oneOf = (chars: string): readonly Start[] =>
  Array.from({ length: chars.length }, (_, i) => ({ text: chars.charAt(i), whole: true, before: 'any' }));

const opened = (starts: readonly Start[]): readonly Start[] => starts.map((start) => ({ ...start, whole: false }));

/** What begins with one of `heads`, one of `tails` after it. */
function joined(heads: readonly Start[], tails: readonly Start[]): readonly Start[] {
  if (heads.length === 0 || tails === NOTHING) return heads;
  const empty = heads.filter(({ text }) => text === '').length;
  // too many: of those that are something already, no more is asked
  const cut = (heads.length - empty) * tails.length > MAX_STARTS;
  const starts: Start[] = [];
  for (const head of heads) {
    if (!head.whole) starts.push(head);
    else if (cut && head.text !== '') starts.push({ ...head, whole: false });
    else
      for (const tail of tails) {
        const text = head.text + tail.text;
        const before = head.text === '' && head.before === 'any' ? tail.before : head.before;
        starts.push({ text: text.slice(0, MAX_CHARS), whole: tail.whole && text.length < MAX_CHARS, before });
      }
  }
  return distinct(starts);
}

function distinct(starts: readonly Start[]): readonly Start[] {
  if (starts.length < 2) return starts;
  return [...new Map(starts.map((start) => [`${start.before}${start.whole ? '' : '…'}:${start.text}`, start])).values()];
}
