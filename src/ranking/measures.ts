/** How well a ranked list answers, with binary relevance (Manning et al., Introduction to Information Retrieval, ch. 8). Pure; tune and the benches use it. */

const DEPTH = 10;

/** Discounted gain of the first 10, divided by that of the best possible order. */
export function ndcg10(ranked: readonly string[], relevant: ReadonlySet<string>): number {
  const discount = (rank: number): number => 1 / Math.log2(rank + 2);
  const gain = ranked.slice(0, DEPTH).reduce((sum, id, rank) => sum + (relevant.has(id) ? discount(rank) : 0), 0);
  const best = Array.from({ length: Math.min(DEPTH, relevant.size) }, (_, rank) => discount(rank)).reduce((a, b) => a + b, 0);
  return gain / best;
}

/** 1 / rank of the first relevant document among the first 10, else 0. */
export function reciprocalRank(ranked: readonly string[], relevant: ReadonlySet<string>): number {
  const rank = ranked.slice(0, DEPTH).findIndex((id) => relevant.has(id));
  return rank < 0 ? 0 : 1 / (rank + 1);
}
