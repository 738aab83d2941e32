/** Which sentences carry most of what a set of memories says: a shortlist by centroid over time, then LexRank on it. Pure and deterministic. */
import type { Sentence } from './sentence.ts';
import { centroid, cosine, termSpace, type TermVector } from './vectors.ts';

export interface RankedSentence extends Sentence {
  /** 0..1, the best has 1. */
  readonly score: number;
  readonly vector: TermVector;
}

/** 45,000 pairs: about 20 ms. */
const SHORTLIST = 300;
/** Parts of the time, by number of sentences, that each send their best: a busy week must not silence the rest of the year. */
const SLICES = 10;
/** Similarity from which one sentence recommends another (Erkan and Radev 2004, continuous LexRank, thresholds 0.05 to 0.1). */
const RECOMMENDS = 0.05;
const DAMPING = 0.85;
/** The same with a query: neighbours lift what answers it, and do not carry the walk away from it. */
const DAMPING_ASKED = 0.3;
const ITERATIONS = 40;
const SETTLED = 1e-9;
/** Part of a sentence's prior that does not ask for the query: what is near nothing asked still follows what is. */
const UNASKED = 0.1;
const NOTHING: TermVector = new Map();

/**
 * LexRank (Erkan and Radev 2004, JAIR 22) with a prior: the walk starts again at a sentence in proportion to its worth and, with a query,
 * to its nearness to it (Otterbacher, Erkan and Radev 2005, "Using random walks for question-focused sentence retrieval").
 * `sentences` in time order; answers the shortlist in time order.
 */
export function rankSentences(sentences: readonly Sentence[], queryTerms: readonly string[] | undefined): readonly RankedSentence[] {
  const space = termSpace(sentences);
  const asked = queryTerms === undefined ? undefined : space.vectorOf(queryTerms);
  const prior = (i: number): number => {
    const { worth, terms } = sentences[i] ?? { worth: 0, terms: [] };
    // two words are a greeting or a heading
    const weight = worth * Math.min(1, terms.length / 3);
    const vector = space.vectors[i];
    return asked === undefined || vector === undefined ? weight : weight * (UNASKED + cosine(vector, asked));
  };
  const places = shortlist(space.vectors, prior);
  const vectors = places.map((i) => space.vectors[i] ?? new Map<number, number>());
  const scores = walk(vectors, places.map(prior), asked === undefined ? DAMPING : DAMPING_ASKED);
  const best = Math.max(...scores, Number.MIN_VALUE);
  return places.flatMap((i, n) => {
    const sentence = sentences[i];
    const vector = vectors[n];
    return sentence === undefined || vector === undefined ? [] : [{ ...sentence, score: (scores[n] ?? 0) / best, vector }];
  });
}

/** Places of the sentences nearest to the centroid of their part of the time (Radev et al. 2004, MEAD), so many from each. */
function shortlist(vectors: readonly TermVector[], prior: (i: number) => number): readonly number[] {
  const all = vectors.map((_vector, i) => i);
  if (all.length <= SHORTLIST) return all;
  const chosen: number[] = [];
  for (let slice = 0; slice < SLICES; slice += 1) {
    const part = all.slice(Math.floor((slice * all.length) / SLICES), Math.floor(((slice + 1) * all.length) / SLICES));
    const middle = centroid(part.map((i) => vectors[i] ?? NOTHING));
    const weights = new Map(part.map((i) => [i, (0.05 + cosine(vectors[i] ?? NOTHING, middle)) * prior(i)]));
    chosen.push(...part.sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0) || a - b).slice(0, SHORTLIST / SLICES));
  }
  return chosen.sort((a, b) => a - b);
}

/** The stationary distribution; `prior` need not sum to 1. */
function walk(vectors: readonly TermVector[], prior: readonly number[], damping: number): readonly number[] {
  const size = vectors.length;
  const total = prior.reduce((sum, weight) => sum + weight, 0);
  const start = prior.map((weight) => (total > 0 ? weight / total : 1 / size));
  const links = recommendations(vectors);
  let now = [...start];
  for (let i = 0; i < ITERATIONS; i += 1) {
    const next = start.map((weight) => (1 - damping) * weight);
    for (const [from, row] of links.entries()) {
      const share = damping * (now[from] ?? 0);
      // who recommends nobody starts again
      if (row.sum === 0) for (const [to, weight] of start.entries()) next[to] = (next[to] ?? 0) + share * weight;
      for (const [to, weight] of row.to) next[to] = (next[to] ?? 0) + (share * weight) / row.sum;
    }
    const moved = next.reduce((sum, weight, n) => sum + Math.abs(weight - (now[n] ?? 0)), 0);
    now = next;
    if (moved < SETTLED) break;
  }
  return now;
}

function recommendations(
  vectors: readonly TermVector[],
): readonly { readonly sum: number; readonly to: readonly (readonly [number, number])[] }[] {
  const rows = vectors.map(() => ({ sum: 0, to: [] as (readonly [number, number])[] }));
  for (const [i, a] of vectors.entries())
    for (let j = i + 1; j < vectors.length; j += 1) {
      const b = vectors[j];
      const weight = b === undefined ? 0 : cosine(a, b);
      if (weight < RECOMMENDS) continue;
      for (const [from, to] of [
        [i, j],
        [j, i],
      ] as const) {
        const row = rows[from];
        if (row === undefined) continue;
        row.sum += weight;
        row.to.push([to, weight]);
      }
    }
  return rows;
}
