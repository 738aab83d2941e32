/** What a quality run tells: the figures for the results file, the markdown tables for README, the plots. Pure. */
import { barChart } from '../report/svg.ts';
import { difference, markdownTable, share, withInterval } from '../report/markdown.ts';
import { byCategory, estimates, macro, macroDifference, METRIC_LABELS, METRICS, type Answers, type MetricName } from './figures.ts';
import { verdicts } from './goals.ts';
import { DEFAULT_ROW } from './rows.ts';

export interface MeasuredSet extends Answers {
  readonly documents: number;
  readonly memories: number;
  readonly leftOut: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

const MACRO_METRICS: readonly MetricName[] = ['recall_5', 'ndcg_10'];
const shortName = (set: string): string => set.replace(/\.dev$/, '');

/** Everything as numbers, for bench/results. `compared`: the answers the rankings are compared on, maybe to fewer questions. */
export function qualityFigures(
  sets: readonly MeasuredSet[],
  compared: readonly Answers[],
  rows: readonly string[],
): Record<string, unknown> {
  return {
    sets: sets.map((set) => ({
      set: set.set,
      documents: set.documents,
      memories: set.memories,
      questions: set.categories.length,
      left_out: set.leftOut,
      search_p50_ms: set.p50Ms,
      search_p95_ms: set.p95Ms,
      ...estimates(set.rows.get(DEFAULT_ROW) ?? []),
      categories: byCategory(set, DEFAULT_ROW).map(({ category, questions, figures }) => ({ category, questions, ...figures })),
    })),
    macro: Object.fromEntries(METRICS.map((metric) => [metric, macro(sets, DEFAULT_ROW, metric)])),
    goals: verdicts(meansBySet(sets)),
    compared_questions: Object.fromEntries(compared.map((set) => [set.set, set.categories.length])),
    rankings: rows.map((row) => ({
      ranking: row,
      ...Object.fromEntries(MACRO_METRICS.map((metric) => [metric, macro(compared, row, metric)])),
      ...Object.fromEntries(MACRO_METRICS.map((metric) => [`${metric}_difference`, macroDifference(compared, row, DEFAULT_ROW, metric)])),
      sets: Object.fromEntries(
        compared.map((set) => {
          const means = estimates(set.rows.get(row) ?? []);
          return [set.set, Object.fromEntries(METRICS.map((metric) => [metric, means[metric].mean]))];
        }),
      ),
    })),
  };
}

/** Markdown: sets, categories, goals, rankings. */
export function qualityMarkdown(sets: readonly MeasuredSet[], compared: readonly Answers[], rows: readonly string[]): string {
  const head = METRICS.map((metric) => METRIC_LABELS[metric]);
  const cells = (figures: ReturnType<typeof estimates>): string[] =>
    METRICS.map((metric) => (MACRO_METRICS.includes(metric) ? withInterval(figures[metric]) : share(figures[metric].mean)));
  const perSet = sets.map((set) => [
    shortName(set.set),
    String(set.documents),
    String(set.categories.length),
    ...cells(estimates(set.rows.get(DEFAULT_ROW) ?? [])),
  ]);
  const all = Object.fromEntries(METRICS.map((metric) => [metric, macro(sets, DEFAULT_ROW, metric)])) as ReturnType<typeof estimates>;
  const perCategory = sets.flatMap((set) =>
    byCategory(set, DEFAULT_ROW).map(({ category, questions, figures }) => [
      shortName(set.set),
      category,
      String(questions),
      ...cells(figures),
    ]),
  );
  const goals = verdicts(meansBySet(sets)).map((v) => [v.label, share(v.measured), share(v.must), share(v.goal), v.verdict]);
  const rankings = rows.map((row) => [
    row,
    ...MACRO_METRICS.flatMap((metric) => [
      withInterval(macro(compared, row, metric)),
      row === DEFAULT_ROW ? '' : difference(macroDifference(compared, row, DEFAULT_ROW, metric)),
    ]),
    ...compared.map((set) => share(estimates(set.rows.get(row) ?? []).recall_5.mean)),
  ]);
  return [
    'Default ranking, by set (95 % bootstrap intervals in brackets):',
    markdownTable(['set', 'documents', 'questions', ...head], [...perSet, [`mean of ${sets.length}`, '', '', ...cells(all)]]),
    'By category:',
    markdownTable(['set', 'category', 'questions', ...head], perCategory),
    ...(goals.length === 0 ? [] : ['Goals:', markdownTable(['figure', 'measured', 'must', 'goal', 'reached'], goals)]),
    `Rankings on ${compared.reduce((sum, set) => sum + set.categories.length, 0)} questions, mean over the sets, difference to the default with its paired interval, and R@5 by set:`,
    markdownTable(['ranking', 'R@5', 'Δ R@5', 'nDCG@10', 'Δ nDCG@10', ...compared.map((set) => shortName(set.set))], rankings),
  ].join('\n\n');
}

/** File name to SVG. */
export function qualityPlots(
  sets: readonly MeasuredSet[],
  compared: readonly Answers[],
  rows: readonly string[],
): ReadonlyMap<string, string> {
  const bar = ({ mean, low, high }: { mean: number; low: number; high: number }) => ({ value: mean, low, high });
  const series = MACRO_METRICS.map((metric) => METRIC_LABELS[metric]);
  const plots = new Map([
    [
      'quality-sets.svg',
      barChart({
        title: 'Default ranking by set, 95 % bootstrap intervals',
        series,
        max: 1,
        rows: sets.map((set) => {
          const figures = estimates(set.rows.get(DEFAULT_ROW) ?? []);
          return { label: shortName(set.set), bars: MACRO_METRICS.map((metric) => bar(figures[metric])) };
        }),
      }),
    ],
  ]);
  if (rows.length > 1)
    plots.set(
      'quality-rankings.svg',
      barChart({
        title: `Rankings, mean over ${sets.length} sets, 95 % bootstrap intervals`,
        series,
        max: 1,
        rows: rows.map((row) => ({ label: row, bars: MACRO_METRICS.map((metric) => bar(macro(compared, row, metric))) })),
      }),
    );
  return plots;
}

function meansBySet(sets: readonly MeasuredSet[]): ReadonlyMap<string, Readonly<Record<MetricName, number>>> {
  return new Map(
    sets.map((set) => {
      const figures = estimates(set.rows.get(DEFAULT_ROW) ?? []);
      return [shortName(set.set), Object.fromEntries(METRICS.map((m) => [m, figures[m].mean])) as Record<MetricName, number>];
    }),
  );
}
