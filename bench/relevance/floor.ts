/** Precision and recall of nothing_relevant over all floors: answerable questions must keep their answer, unanswerable ones must come back empty. Pure. */
import { markdownTable, share } from '../report/markdown.ts';
import { lineChart } from '../report/svg.ts';

export interface Judged {
  readonly set: string;
  /** Best score of each question with an answer, and whether that answer is among the hits. */
  readonly answerable: readonly { readonly best: number; readonly found: boolean }[];
  /** Best score of each question without an answer. */
  readonly unanswerable: readonly number[];
}

export interface FloorPoint {
  readonly floor: number;
  /** Of the questions that come back empty, the share without an answer. Answerable ones whose answer was not among the hits anyway are left out. */
  readonly precision: number;
  /** Of the questions without an answer, the share that comes back empty. */
  readonly recall: number;
  /** Of the questions whose answer was found, the share that is lost. */
  readonly lost: number;
}

const STEP = 0.025;
const STEPS = 33;

/** Means over the sets with both kinds weighed alike: precision = recall / (recall + lost). */
export function curveOf(judged: readonly Judged[]): FloorPoint[] {
  return Array.from({ length: STEPS }, (_, i) => pointOf(judged, Math.round(i * STEP * 1e3) / 1e3));
}

export function pointOf(judged: readonly Judged[], floor: number): FloorPoint {
  const mean = (of: (set: Judged) => number): number => judged.reduce((sum, set) => sum + of(set), 0) / judged.length;
  const recall = mean(({ unanswerable }) => shareUnder(unanswerable, floor));
  const lost = mean(({ answerable }) =>
    shareUnder(
      answerable.filter(({ found }) => found).map(({ best }) => best),
      floor,
    ),
  );
  return { floor, precision: recall + lost === 0 ? 1 : recall / (recall + lost), recall, lost };
}

export function floorMarkdown(judged: readonly Judged[], floor: number): string {
  const row = (name: string, sets: readonly Judged[]): string[] => {
    const { precision, recall, lost } = pointOf(sets, floor);
    const count = (of: (set: Judged) => number): string => String(sets.reduce((sum, set) => sum + of(set), 0));
    return [
      name,
      count((set) => set.answerable.length),
      count((set) => set.unanswerable.length),
      share(precision),
      share(recall),
      share(lost),
    ];
  };
  return markdownTable(
    [`nothing_relevant, floor ${share(floor)}`, 'answerable', 'unanswerable', 'precision', 'recall', 'answers lost'],
    [...judged.map((set) => row(set.set, [set])), row('mean', judged)],
  );
}

export function floorPlot(curve: readonly FloorPoint[], floor: number): string {
  const line = (name: string, y: (point: FloorPoint) => number): { name: string; points: (readonly [number, number])[] } => ({
    name,
    points: curve.map((point) => [point.floor, y(point)] as const),
  });
  return lineChart({
    title: `nothing_relevant by floor (the profile assistant has ${share(floor)})`,
    x: 'floor',
    y: 'share',
    series: [line('precision', (p) => p.precision), line('recall', (p) => p.recall), line('answers lost', (p) => p.lost)],
  });
}

function shareUnder(scores: readonly number[], floor: number): number {
  return scores.filter((score) => score < floor).length / Math.max(1, scores.length);
}
