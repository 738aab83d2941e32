/** From ranked sentences to the few that are shown: relevant, each saying something else, in the order of time. Pure and deterministic. */
import type { RankedSentence } from './rank.ts';
import { inTime } from './sentence.ts';
import { cosine } from './vectors.ts';

export interface Budget {
  readonly sentences: number;
  /** Of their texts together. */
  readonly chars: number;
}

/** How near two sentences are by what their memories mean, 0..1 calibrated; undefined where no vectors tell. */
export type MeaningOf = (a: RankedSentence, b: RankedSentence) => number | undefined;

/** Carbonell and Goldstein 1998, maximal marginal relevance: the part of relevance. */
const LAMBDA = 0.6;
/** Cosine of the words from which on a sentence says nothing that is not there already. */
const SAME = 0.6;
/** Vectors tell what memories as a whole are about, and some come later than the memory: they move a sentence back, and never out. */
const MEANING_WEIGHT = 0.8;

/** MMR within the budget; a sentence that alone is longer than what is left is passed over. Answers in time order. */
export function chooseSentences(ranked: readonly RankedSentence[], budget: Budget, meaningOf: MeaningOf): readonly RankedSentence[] {
  const chosen: RankedSentence[] = [];
  const left = ranked.map((sentence) => ({ sentence, said: 0, near: 0 }));
  let chars = budget.chars;
  while (chosen.length < budget.sentences) {
    let best: (typeof left)[number] | undefined;
    let bestValue = -Infinity;
    for (const candidate of left) {
      if (candidate.said >= SAME || candidate.sentence.text.length > chars) continue;
      const value = LAMBDA * candidate.sentence.score - (1 - LAMBDA) * Math.max(candidate.said, candidate.near);
      if (value > bestValue) [best, bestValue] = [candidate, value];
    }
    if (best === undefined) break;
    const { sentence } = best;
    chosen.push(sentence);
    chars -= sentence.text.length;
    best.said = Infinity;
    for (const other of left) {
      other.said = Math.max(other.said, cosine(sentence.vector, other.sentence.vector));
      other.near = Math.max(other.near, MEANING_WEIGHT * (meaningOf(sentence, other.sentence) ?? 0));
    }
  }
  return chosen.sort(inTime);
}
