/** The figures the product is held to on the dev sets, beside those a run measured. Pure. */
import type { MetricName } from './figures.ts';

export interface Goal {
  readonly label: string;
  /** Sets whose mean is meant; all of them must have been measured. */
  readonly sets: readonly string[];
  readonly metric: MetricName;
  readonly must: number;
  readonly goal: number;
}

export const NINE_SETS = [
  'cmrc2018_zh',
  'lme_sample',
  'locomo',
  'madial_en',
  'madial_zh',
  'memdaily_zh',
  'memorybank_en',
  'memorybank_x',
  'memorybank_zh',
];

export const GOALS: readonly Goal[] = [
  { label: 'macro of nine, recall@5', sets: NINE_SETS, metric: 'recall_5', must: 0.835, goal: 0.85 },
  { label: 'macro of nine, nDCG@10', sets: NINE_SETS, metric: 'ndcg_10', must: 0.76, goal: 0.775 },
  { label: 'LoCoMo without adversarial, recall@5', sets: ['locomo'], metric: 'recall_5', must: 0.71, goal: 0.735 },
  { label: 'LoCoMo without adversarial, recall@10', sets: ['locomo'], metric: 'recall_10', must: 0.78, goal: 0.8 },
  { label: 'LoCoMo without adversarial, MRR', sets: ['locomo'], metric: 'mrr', must: 0.63, goal: 0.65 },
  { label: 'MemDaily zh, recall@5', sets: ['memdaily_zh'], metric: 'recall_5', must: 0.88, goal: 0.895 },
  { label: 'MemoryBank zh, recall@5', sets: ['memorybank_zh'], metric: 'recall_5', must: 0.975, goal: 1 },
  { label: 'MemoryBank en, recall@5', sets: ['memorybank_en'], metric: 'recall_5', must: 0.985, goal: 1 },
  { label: 'MemoryBank cross-lingual, recall@5', sets: ['memorybank_x'], metric: 'recall_5', must: 0.87, goal: 0.9 },
  { label: 'MADial zh, recall@5', sets: ['madial_zh'], metric: 'recall_5', must: 0.59, goal: 0.63 },
  { label: 'MADial en, recall@5', sets: ['madial_en'], metric: 'recall_5', must: 0.575, goal: 0.6 },
];

export interface Verdict extends Goal {
  readonly measured: number;
  readonly verdict: 'goal' | 'must' | 'missed';
}

/** Verdicts of the goals whose sets were all measured; compared as printed, to three places. */
export function verdicts(means: ReadonlyMap<string, Readonly<Record<MetricName, number>>>): Verdict[] {
  return GOALS.flatMap((goal) => {
    const found = goal.sets.map((set) => means.get(set)?.[goal.metric]);
    if (found.some((value) => value === undefined)) return [];
    const measured = Math.round((found as number[]).reduce((sum, value) => sum + value / found.length, 0) * 1e3) / 1e3;
    return [{ ...goal, measured, verdict: measured >= goal.goal ? 'goal' : measured >= goal.must ? 'must' : 'missed' }];
  });
}
