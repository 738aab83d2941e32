/** Cuts long content into overlapping passages at sentence ends; each passage gets a vector of its own in the nested field. */
import { sentencePieces, type Piece } from './sentences.ts';
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

/** 400 with 50 overlap: product.md, `passages`. */
const DEFAULT_LIMITS: PassageLimits = { maxTokens: 400, overlapTokens: 50 };

/**
 * The passages of a content that is longer than `maxTokens` estimated tokens; empty when it is not.
 * Together they cover the whole content in order; neighbours share up to `overlapTokens` tokens of whole sentences. A sentence
 * that alone exceeds the limit is cut between words or characters, never inside a surrogate pair. Linear in the content.
 */
export function splitPassages(content: string, limits: PassageLimits = DEFAULT_LIMITS): Passage[] {
  const max = limits.maxTokens * 10;
  const overlap = Math.min(limits.overlapTokens * 10, Math.floor(max / 2));
  if (content.length * MAX_UNIT_COST <= max || tokenCost(content, max) <= max) return [];
  const pieces = cutLong(content, sentencePieces(content), max, overlap || max);
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
