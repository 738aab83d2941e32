/** Retrieval figures of one ranked list with binary relevance (Manning et al., Introduction to Information Retrieval, ch. 8). Pure. */

export interface RankingFigures {
  readonly recall_1: number;
  readonly recall_5: number;
  readonly recall_10: number;
  readonly ndcg_10: number;
  readonly mrr: number;
}

const DEPTH = 10;

/** Share of the relevant documents among the first k; NaN when nothing is relevant. */
export function recallAt(k: number, ranked: readonly string[], relevant: ReadonlySet<string>): number {
  return ranked.slice(0, k).filter((id) => relevant.has(id)).length / relevant.size;
}

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

/** All figures of one query; `ranked` without repetitions. */
export function rankingFigures(ranked: readonly string[], relevant: ReadonlySet<string>): RankingFigures {
  return {
    recall_1: recallAt(1, ranked, relevant),
    recall_5: recallAt(5, ranked, relevant),
    recall_10: recallAt(10, ranked, relevant),
    ndcg_10: ndcg10(ranked, relevant),
    mrr: reciprocalRank(ranked, relevant),
  };
}

/** Means over queries. */
export function meanFigures(all: readonly RankingFigures[]): RankingFigures {
  const mean = (pick: (f: RankingFigures) => number): number => all.reduce((sum, f) => sum + pick(f), 0) / all.length;
  return {
    recall_1: mean((f) => f.recall_1),
    recall_5: mean((f) => f.recall_5),
    recall_10: mean((f) => f.recall_10),
    ndcg_10: mean((f) => f.ndcg_10),
    mrr: mean((f) => f.mrr),
  };
}
