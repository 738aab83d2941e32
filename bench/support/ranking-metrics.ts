/** Retrieval figures of one ranked list with binary relevance (Manning et al., Introduction to Information Retrieval, ch. 8). Pure. */
import { ndcg10, reciprocalRank } from '../../src/ranking/measures.ts';

export interface RankingFigures {
  readonly recall_1: number;
  readonly recall_5: number;
  readonly recall_10: number;
  readonly ndcg_10: number;
  readonly mrr: number;
}

/** Share of the relevant documents among the first k; NaN when nothing is relevant. */
export function recallAt(k: number, ranked: readonly string[], relevant: ReadonlySet<string>): number {
  return ranked.slice(0, k).filter((id) => relevant.has(id)).length / relevant.size;
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
