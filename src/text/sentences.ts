/** Sentences of Chinese and English text: pieces that cover it for passages, and trimmed texts to quote for summaries. */
import { unitAt } from './tokens.ts';

/** A piece of content that is never divided: a sentence, or a part of one that is longer than a passage. */
export interface Piece {
  start: number;
  end: number;
  /** Tenths of an estimated model token. */
  cost: number;
}

/** Marks that end a sentence wherever they stand. */
const HARD_ENDS = new Set('。！？；…\n\u2028\u2029｡');
/** Marks that end a sentence only before white space or the end of the text: `v2.3.1` and `e.g.x` stay whole. */
const SOFT_ENDS = new Set('.!?');
/** Closing marks that still belong to the sentence they follow. */
const CLOSERS = new Set('"\'”’」』）)】》]');

/** Sentences as contiguous pieces that cover the text; white space after a sentence belongs to it. Linear in the text. */
export function sentencePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let cost = 0;
  let ended = false;
  for (let at = 0; at < text.length;) {
    const unit = unitAt(text, at);
    const mark = text.charAt(at);
    const blank = unit.cost === 0;
    if (ended && !blank && !continuesEnd(mark)) {
      pieces.push({ start, end: at, cost });
      start = at;
      cost = 0;
      ended = false;
    }
    ended ||= blank ? text.slice(at, unit.end).includes('\n') : endsSentence(text, at);
    cost += unit.cost;
    at = unit.end;
  }
  if (start < text.length) pieces.push({ start, end: text.length, cost });
  return pieces;
}

function continuesEnd(mark: string): boolean {
  return CLOSERS.has(mark) || HARD_ENDS.has(mark) || SOFT_ENDS.has(mark);
}

function endsSentence(text: string, at: number): boolean {
  if (HARD_ENDS.has(text.charAt(at))) return true;
  if (!SOFT_ENDS.has(text.charAt(at))) return false;
  const next = text.charAt(at + 1);
  return next === '' || /\s/u.test(next) || CLOSERS.has(next);
}

/** A full stop after these, or after a single capital letter, ends no sentence. */
const ABBREVIATED = /(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|approx|No|Nr|e\.g|i\.e|cf|Inc|Ltd|Co|a\.m|p\.m)\.$/u;
/** `etc.` and the like may end one all the same: then a capital letter or a Han character follows. */
const MAY_END = /(?:etc|Inc|Ltd|Co|a\.m|p\.m)\.$/u;
const BEGINS = /^[\p{Lu}\p{Script=Han}]/u;
/** Marks of lists, numbered or not, before what an item says. */
const LIST_MARK = /^(?:[-*•·–]|\d{1,3}[.)、]|[（(]?[一二三四五六七八九十]{1,3}[、）)])\s*/u;

/** The sentences of a text in order, without surrounding white space and list marks; pieces without a letter or digit are left out. */
export function sentencesOf(text: string): string[] {
  const joined: string[] = [];
  let open = '';
  for (const { start, end } of sentencePieces(text)) {
    const piece = text.slice(start, end);
    const goesOn = open !== '' && ABBREVIATED.test(open.trimEnd()) && !(MAY_END.test(open.trimEnd()) && BEGINS.test(piece));
    if (open !== '' && !goesOn) joined.push(open);
    open = goesOn && !open.includes('\n') ? open + piece : piece;
  }
  if (open !== '') joined.push(open);
  return joined.map((sentence) => sentence.trim().replace(LIST_MARK, '')).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}
