/** Scores as a caller may see them: on a grid too coarse to read from them how rare a word is in records that he may not see. */
import type { RankedHit, SignalPart } from '../domain/ranking.ts';

/** Step of the calibrated score (0 to 1) and of its parts; a caller's weight above 1 widens it, so that no weight works as a lens. */
const STEP = 0.001;
/** BM25 holds the idf of the words, which is counted over all records of the tenant: what carries it is told in two digits. */
const CARRIES_IDF: ReadonlySet<string> = new Set(['lexical']);

/**
 * The hit with score and contributions on the grid, and with raw values that carry idf, their normalised ones and the engine's score in
 * two significant digits. Parts add up to the score within half a step each. The order of hits stays: rounding never turns two around.
 */
export function coarse(hit: RankedHit): RankedHit {
  const step = STEP * Math.max(1, ...hit.parts.map(({ weight }) => weight));
  return {
    ...hit,
    score: Math.min(1, onGrid(hit.score, step)),
    engineScore: twoDigits(hit.engineScore),
    ...(hit.wordings === undefined ? {} : { wordings: hit.wordings.map((value) => (value === null ? null : twoDigits(value))) }),
    parts: hit.parts.map((part) => coarsePart(part, step)),
  };
}

function coarsePart(part: SignalPart, step: number): SignalPart {
  const contribution = onGrid(part.contribution, step);
  if (!CARRIES_IDF.has(part.signal) || part.raw === null) return { ...part, contribution };
  return { ...part, raw: twoDigits(part.raw), normalised: twoDigits(part.normalised), contribution };
}

function onGrid(value: number, step: number): number {
  // to 12 digits: 3 x 0.001 is 0.003 again
  return Number((Math.round(value / step) * step).toPrecision(12));
}

function twoDigits(value: number): number {
  return Number(value.toPrecision(2));
}
