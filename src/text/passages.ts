/** Cuts long content into overlapping passages at sentence ends; each passage gets a vector of its own in the nested field. */
import { MAX_UNIT_COST, tokenCost, unitAt } from './tokens.ts';

/** One passage: `content.slice(start, end) === text`, offsets in UTF-16 units. */
export interface Passage {
  text: string;
  start: number;
  end: number;
}

export interface PassageLimits {
  maxTokens: number;
  overlapTokens: number;
}

/** A piece of content that is never divided: a sentence, or a part of one that is longer than a passage. */
interface Piece {
  start: number;
  end: number;
  cost: number;
}

/** 400 with 50 overlap: product.md, `passages`. */
const DEFAULT_LIMITS: PassageLimits = { maxTokens: 400, overlapTokens: 50 };

/** Marks that end a sentence wherever they stand. */
const HARD_ENDS = new Set('。！？；…\n\u2028\u2029｡');
/** Marks that end a sentence only before white space or the end of the text: `v2.3.1` and `e.g.x` stay whole. */
const SOFT_ENDS = new Set('.!?');
/** Closing marks that still belong to the sentence they follow. */
const CLOSERS = new Set('"\'”’」』）)】》]');

/**
 * The passages of a content that is longer than `maxTokens` estimated tokens; empty when it is not.
 * Together they cover the whole content in order; neighbours share up to `overlapTokens` tokens of whole sentences. A sentence
 * that alone exceeds the limit is cut between words or characters, never inside a surrogate pair. Linear in the content.
 */
export function splitPassages(content: string, limits: PassageLimits = DEFAULT_LIMITS): Passage[] {
  const max = limits.maxTokens * 10;
  const overlap = Math.min(limits.overlapTokens * 10, Math.floor(max / 2));
  if (content.length * MAX_UNIT_COST <= max || tokenCost(content, max) <= max) return [];
  const pieces = cutLong(content, sentences(content), max, overlap || max);
  const passages: Passage[] = [];
  let from = 0;
  while (from < pieces.length) {
    let to = from;
    let cost = 0;
    for (let piece = pieces[to]; piece && (to === from || cost + piece.cost <= max); piece = pieces[++to]) cost += piece.cost;
    const start = pieces[from]?.start ?? 0;
    const end = pieces[to - 1]?.end ?? start;
    passages.push({ text: content.slice(start, end), start, end });
    if (to >= pieces.length) break;
    from = backUp(pieces, from, to, overlap, max);
  }
  return passages;
}

/**
 * Where the passage after `[from, to)` starts: as far back from `to` as the overlap allows, but after `from`, and never so far
 * that the piece at `to` would no longer fit (the next passage would then bring nothing new).
 */
function backUp(pieces: readonly Piece[], from: number, to: number, overlap: number, max: number): number {
  const room = Math.min(overlap, max - (pieces[to]?.cost ?? 0));
  let next = to;
  let shared = 0;
  for (let piece = pieces[next - 1]; piece && next - 1 > from && shared + piece.cost <= room; piece = pieces[next - 1]) {
    shared += piece.cost;
    next--;
  }
  return next;
}

/** Sentences as contiguous pieces that cover the text; white space after a sentence belongs to it. */
function sentences(text: string): Piece[] {
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

/** Sentences longer than a passage, cut into parts of about the overlap's size, so that their passages overlap too. */
function cutLong(text: string, whole: readonly Piece[], max: number, partCost: number): Piece[] {
  return whole.flatMap((sentence) => {
    if (sentence.cost <= max) return [sentence];
    const parts: Piece[] = [];
    let part: Piece = { start: sentence.start, end: sentence.start, cost: 0 };
    while (part.end < sentence.end) {
      const unit = unitAt(text, part.end);
      if (part.cost > 0 && part.cost + unit.cost > partCost) {
        parts.push(part);
        part = { start: part.end, end: part.end, cost: 0 };
      }
      part.end = unit.end;
      part.cost += unit.cost;
    }
    parts.push(part);
    return parts;
  });
}
