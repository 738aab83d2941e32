/** The readings of one text that the rules look at: normalised, folded, joined, decoded and the parts a page hides; first step of the text guard. */
import { Converter } from 'opencc-js/t2cn';
import { decodedParts } from './decode.ts';
import { foldConfusables } from './confusables.ts';
import { hiddenParts } from './hidden.ts';
import { joinSpaced } from './join-spaced.ts';

/** One reading of a text. */
export interface View {
  readonly name: 'plain' | 'folded' | 'joined' | 'leet' | 'reversed' | 'decoded' | 'hidden';
  readonly text: string;
  /** True: a reader does not see these words as they are (encoded, invisible, hidden by markup). */
  readonly hidden: boolean;
}

/** How deep encodings are opened, and how much all readings may hold together (guard.md, views). */
const MAX_DEPTH = 2;
const MAX_VIEW_CHARS = 64 * 1024;

// The package's types name a module without its ending, which Node's resolution does not take: the result has no type.
const converter: unknown = Converter({ from: 't', to: 'cn' });
const toSimplified = converter as (text: string) => string;

/** Invisible characters: format characters, fillers and variation selectors; joiners inside emoji change nothing for words. */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u0300-\u036f]/gu;
const HAN = /\p{Script=Han}/u;
const INLINE_SPACE = /[^\S\n]+/g;

/** NFKC, invisible characters off, lower case, simplified Chinese, white space folded; what the patterns of concepts.yaml read. */
export function normalise(text: string): string {
  const shown = text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().replace(INLINE_SPACE, ' ').replace(/[’‘]/g, "'");
  return HAN.test(shown) ? toSimplified(shown) : shown;
}

/** All readings of `text`, the plain one first. Bounded: at most 64 KB together beside the plain one. */
export function viewsOf(text: string): readonly View[] {
  const views: View[] = [];
  const seen = new Set<string>();
  let room = MAX_VIEW_CHARS;
  const add = (name: View['name'], reading: string, hidden: boolean): void => {
    if (reading.length < 4 || seen.has(reading) || room <= 0) return;
    seen.add(reading);
    const cut = views.length === 0 ? reading : reading.slice(0, room);
    if (views.length > 0) room -= cut.length;
    views.push({ name, text: cut, hidden });
  };
  const read = (source: string, hidden: boolean, depth: number): void => {
    const plain = normalise(source);
    add(depth === 0 ? 'plain' : 'decoded', plain, hidden);
    for (const folded of foldings(plain)) add(folded.name, folded.text, hidden);
    if (depth >= MAX_DEPTH) return;
    for (const part of hiddenParts(source)) add('hidden', normalise(part), true);
    for (const part of decodedParts(source)) read(part, true, depth + 1);
  };
  read(text, false, 0);
  return views;
}

function* foldings(plain: string): Iterable<{ name: 'folded' | 'joined' | 'leet' | 'reversed'; text: string }> {
  const folded = foldConfusables(plain);
  if (folded !== plain) yield { name: 'folded', text: folded };
  const joined = joinSpaced(plain);
  if (joined !== plain) yield { name: 'joined', text: joined };
  for (const text of unleet(plain)) yield { name: 'leet', text };
  if (ROT13_WORDS.test(plain))
    yield { name: 'reversed', text: plain.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 84) % 26) + 97)) };
  if (REVERSED_WORDS.test(plain)) yield { name: 'reversed', text: [...plain].reverse().join('') };
}

/** Words of instructions, turned by thirteen letters. */
const ROT13_WORDS = /\b(?:vtaber|qvfertneq|cerivbhf|vafgehpgvbaf?|flfgrz|cebzcg|erirny|cnffjbeqf?|sbejneq)\b/;

/** Words of instructions read backwards: cheap to look for, and nothing else looks like them. */
const REVERSED_WORDS = /\b(?:erongi|dragersid|tpmorp|metsys|snoitcurtsni|suoiverp|sdrowssap?|laever)\b|略忽|令指|词示提/;

const LEET: Readonly<Record<string, string>> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '@': 'a' };
const ADDRESS_END = /^@[\w-]+\.\w/;
const LEET_WORD = /(?<![\p{L}\p{N}])(?=[\p{L}]*[013457@])(?=[013457@]*[a-z])[a-z013457@]{3,}/gu;

/** Two readings of digits for letters (1 as i, 1 as l), when at least three words are written that way. */
function unleet(text: string): readonly string[] {
  const words = text.match(LEET_WORD) ?? [];
  if (words.length < 3) return [];
  const read = (one: string): string =>
    text.replace(/[013457@]/g, (c, at: number) =>
      c === '1' ? one : c === '@' && ADDRESS_END.test(text.slice(at, at + 64)) ? c : (LEET[c] ?? c),
    );
  return [read('i'), read('l')];
}
