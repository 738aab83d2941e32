/** Figures of a quality run: one question's metrics, their means and intervals by set, category and ranking. Pure. */
import { bootstrapMacro, bootstrapMean, type Estimate } from '../support/bootstrap.ts';
import { rankingFigures, recallAt, type RankingFigures } from '../support/ranking-metrics.ts';

export const METRICS = ['recall_1', 'recall_5', 'recall_10', 'recall_20', 'ndcg_10', 'mrr'] as const;
export type MetricName = (typeof METRICS)[number];
export const METRIC_LABELS: Readonly<Record<MetricName, string>> = {
  recall_1: 'R@1',
  recall_5: 'R@5',
  recall_10: 'R@10',
  recall_20: 'R@20',
  ndcg_10: 'nDCG@10',
  mrr: 'MRR',
};

export type QuestionFigures = RankingFigures & { readonly recall_20: number };
export type Estimates = Readonly<Record<MetricName, Estimate>>;

/** One question's metrics; `ranked` holds document ids, best first, each once. */
export function questionFigures(ranked: readonly string[], relevant: ReadonlySet<string>): QuestionFigures {
  return { ...rankingFigures(ranked, relevant), recall_20: recallAt(20, ranked, relevant) };
}

/** What one ranking gave on one set, question by question in the order of the set. */
export interface Answers {
  readonly set: string;
  readonly categories: readonly string[];
  /** By ranking row; every list as long as `categories`. */
  readonly rows: ReadonlyMap<string, readonly QuestionFigures[]>;
}

/** Means and intervals of all metrics. */
export function estimates(figures: readonly QuestionFigures[]): Estimates {
  return Object.fromEntries(METRICS.map((metric) => [metric, bootstrapMean(figures.map((f) => f[metric]))])) as Record<
    MetricName,
    Estimate
  >;
}

/** The same for each category, the largest first. */
export function byCategory(answers: Answers, row: string): { category: string; questions: number; figures: Estimates }[] {
  const groups = new Map<string, QuestionFigures[]>();
  for (const [i, figures] of (answers.rows.get(row) ?? []).entries()) {
    const category = answers.categories[i] ?? '';
    groups.set(category, [...(groups.get(category) ?? []), figures]);
  }
  return [...groups]
    .map(([category, figures]) => ({ category, questions: figures.length, figures: estimates(figures) }))
    .sort((a, b) => b.questions - a.questions);
}

/** Mean over sets (each counts the same) of one metric of one row. */
export function macro(sets: readonly Answers[], row: string, metric: MetricName): Estimate {
  return bootstrapMacro(sets.map((set) => (set.rows.get(row) ?? []).map((f) => f[metric])));
}

/** Mean over sets of the difference of two rows, question by question; an interval without 0 is a difference that other questions would show too. */
export function macroDifference(sets: readonly Answers[], row: string, base: string, metric: MetricName): Estimate {
  return bootstrapMacro(
    sets.map((set) => {
      const before = set.rows.get(base) ?? [];
      return (set.rows.get(row) ?? []).map((f, i) => f[metric] - (before[i]?.[metric] ?? Number.NaN));
    }),
  );
}
