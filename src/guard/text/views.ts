/** The readings of one text that the rules look at: normalised, folded, joined, decoded and the parts a page hides; first step of the text guard. */
import { decodedParts } from './decode.ts';
import { foldConfusables } from './confusables.ts';
import { hiddenParts } from './hidden.ts';
import { joinSpaced } from './join-spaced.ts';
import { toSimplified } from './simplified.ts';

/** One reading of a text. */
export interface View {
  readonly name: 'plain' | 'folded' | 'joined' | 'unwrapped' | 'leet' | 'reversed' | 'decoded' | 'hidden';
  readonly text: string;
  /** True: a reader does not see these words as they are (encoded, invisible, hidden by markup). */
  readonly hidden: boolean;
}

/** How deep encodings are opened, and how much all readings may hold together (guard.md, views). */
const MAX_DEPTH = 2;
const MAX_VIEW_CHARS = 64 * 1024;

/** Invisible characters: format characters, fillers and variation selectors; joiners inside emoji change nothing for words. */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u0300-\u036f]/gu;
const HAN = /\p{Script=Han}/u;
const INLINE_SPACE = /[^\S\n]+/g;
/** Any but single plain spaces. */
const FOLDABLE_SPACE = /[^\S\n ]| {2}/;

/** What the readings of one memory beside the plain one may still hold; `excess` tells that there was more than is opened. */
export interface ReadingBudget {
  chars: number;
  excess: boolean;
}

export const readingBudget = (): ReadingBudget => ({ chars: MAX_VIEW_CHARS, excess: false });

/** NFKC, invisible characters off, lower case, simplified Chinese, white space folded; what the patterns of concepts.yaml read. */
export function normalise(text: string): string {
  return spacesFolded(lettersFolded(text));
}

/** Nothing in it that folding would change but its case. */
const PLAIN_ASCII = /^[\x00-\x7f]*$/;

function lettersFolded(text: string): string {
  if (PLAIN_ASCII.test(text)) return text.toLowerCase();
  const shown = text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().replace(/[’‘]/g, "'");
  return HAN.test(shown) ? toSimplified(shown) : shown;
}

function spacesFolded(text: string): string {
  return FOLDABLE_SPACE.test(text) ? text.replace(INLINE_SPACE, ' ') : text;
}

/**
 * All readings of `text`, the plain one first. Bounded: beside the plain one no more than the budget has left; what is encoded deeper, or
 * beyond it, is not opened, and the budget says so.
 */
export function viewsOf(text: string, budget: ReadingBudget = readingBudget()): readonly View[] {
  const views: View[] = [];
  const seen = new Set<string>();
  const add = (name: View['name'], reading: string, hidden: boolean): void => {
    if (reading.length < 4 || seen.has(reading)) return;
    seen.add(reading);
    const cut = views.length === 0 ? reading : reading.slice(0, budget.chars);
    if (cut.length < reading.length && hidden) budget.excess = true;
    if (cut.length < 4) return;
    if (views.length > 0) budget.chars -= cut.length;
    views.push({ name, text: cut, hidden });
  };
  const read = (source: string, hidden: boolean, depth: number): void => {
    const letters = lettersFolded(source);
    const plain = spacesFolded(letters);
    add(depth === 0 ? 'plain' : 'decoded', plain, hidden);
    for (const folded of foldings(plain, letters)) add(folded.name, folded.text, hidden);
    if (depth >= MAX_DEPTH || budget.chars <= 0) {
      if (!decodedParts(source)[Symbol.iterator]().next().done) budget.excess = true;
      return;
    }
    for (const part of hiddenParts(source)) add('hidden', normalise(part), true);
    for (const part of decodedParts(source)) read(part, true, depth + 1);
  };
  read(text, false, 0);
  return views;
}

/** `letters`: the plain reading before its spaces were folded, whose wider gaps tell where a spelled word ends. */
function* foldings(
  plain: string,
  letters: string,
): Iterable<{ name: 'folded' | 'joined' | 'unwrapped' | 'leet' | 'reversed'; text: string }> {
  const folded = PLAIN_ASCII.test(plain) ? plain : foldConfusables(plain);
  if (folded !== plain) yield { name: 'folded', text: folded };
  const joined = joinSpaced(letters);
  if (joined !== letters) yield { name: 'joined', text: spacesFolded(wordsApart(joined)) };
  // a line's end within a sentence is none of the sentence
  const unwrapped = plain.includes('\n') ? plain.replace(WRAPPED, ' ') : plain;
  if (unwrapped !== plain) yield { name: 'unwrapped', text: unwrapped };
  const whole = withoutInnerMarks(plain);
  if (whole !== plain) yield { name: 'joined', text: whole };
  for (const text of unleet(plain)) yield { name: 'leet', text };
  if (ROT13_WORDS.test(plain))
    yield { name: 'reversed', text: plain.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 84) % 26) + 97)) };
  if (REVERSED_WORDS.test(plain)) yield { name: 'reversed', text: [...plain].reverse().join('') };
}

/** A line that goes on in the next: no mark ends it, no blank line follows, and the next starts no item of a list. */
const WRAPPED = /(?<=[^\s.!?。！？:：;；])\n(?=[^\s\-*#>|\d])/g;

/** Tags and hyphens inside words, which a page or a line break hides. */
function withoutInnerMarks(text: string): string {
  const untagged = text.includes('<') ? text.replace(/(?<=\p{L})(?:<\/?[a-z][^<>]{0,80}>){1,4}(?=\p{L})/gu, '') : text;
  if (!hasTwoInnerHyphens(untagged)) return untagged;
  const hyphened = untagged.match(/(?<!\p{L})\p{L}{2,24}-\p{L}{2,24}/gu) ?? [];
  return hyphened.length >= 2 ? untagged.replace(/(?<=\p{L}{2})-(?=\p{L}{2})/gu, '') : untagged;
}

/** On the safe side: hyphens that no space or mark stands beside. */
function hasTwoInnerHyphens(text: string): boolean {
  let inner = 0;
  for (let at = text.indexOf('-'); at >= 0 && inner < 2; at = text.indexOf('-', at + 1))
    if (text.charCodeAt(at - 1) > LAST_MARK && text.charCodeAt(at + 1) > LAST_MARK) inner += 1;
  return inner >= 2;
}

/** `@`; letters come after it. */
const LAST_MARK = 0x40;

/** Long runs of letters without a space, as spelled text leaves them, cut at the words that instructions are made of. */
const RUN = /[a-z]{16,}/g;
const RUN_WORDS =
  /ignore|disregard|forget|override|bypass|everything|instructions?|guidelines?|previous|earlier|confirmation|approval|approve|password|customer|transfer|payment|refund|system|prompt|reveal|forward|without|asking|rules|prior|above|always|never|every|send|show|print|user|from|your|list|and|all|any|the|now|to/g;

function wordsApart(text: string): string {
  return text.replace(RUN, (run) => run.replace(RUN_WORDS, ' $& ').trim());
}

/** Words of instructions, turned by thirteen letters. */
const ROT13_WORDS = /\b(?:vtaber|qvfertneq|cerivbhf|vafgehpgvbaf?|flfgrz|cebzcg|erirny|cnffjbeqf?|sbejneq)\b/;

/** Words of instructions read backwards: cheap to look for, and nothing else looks like them. */
const REVERSED_WORDS = /\b(?:erongi|dragersid|tpmorp|metsys|snoitcurtsni|suoiverp|sdrowssap?|laever)\b|略忽|令指|词示提/;

const LEET: Readonly<Record<string, string>> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '@': 'a' };
const ADDRESS_END = /^@[\w-]+\.\w/;
const LEET_RUN = /(?<![\p{L}\p{N}])[a-z013457@]{3,}/gu;

/** Two readings of digits for letters (1 as i, 1 as l), when at least three words are written that way. */
function unleet(text: string): readonly string[] {
  const words = (text.match(LEET_RUN) ?? []).filter((word) => /[a-z]/.test(word) && /[013457@]/.test(word));
  if (words.length < 3) return [];
  const read = (one: string): string =>
    text.replace(/[013457@]/g, (c, at: number) =>
      c === '1' ? one : c === '@' && ADDRESS_END.test(text.slice(at, at + 64)) ? c : (LEET[c] ?? c),
    );
  return [read('i'), read('l')];
}
