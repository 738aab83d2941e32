/** From what was measured to settings for a target: which vector index, how many neighbours, how many searches at once. Pure. */
import { corpusKey, layoutsOf, settingsOf, shapeKey, type Dimensions } from './plan.ts';
import type { CellFigures, CorpusFigures } from './record.ts';

/**
 * Share of the exact answer's hits that a cell's answer holds, mean over questions; the exact answer is that of `flat` at the same size,
 * layout and shape with the base's neighbours. Undefined where that was not measured.
 */
export function agreement(cell: CellFigures, cells: readonly CellFigures[], baseNeighbours: number): number | undefined {
  const exact = cells.find(
    (other) =>
      other.index === 'flat' &&
      corpusKey({ ...other, index: cell.index }) === corpusKey(cell) &&
      shapeKey(other) === shapeKey({ ...cell, neighbours: baseNeighbours }) &&
      other.hits !== undefined,
  )?.hits;
  if (exact === undefined || cell.hits === undefined) return undefined;
  const shares = cell.hits.flatMap((hits, i) => {
    const right = exact[i] ?? [];
    return right.length === 0 ? [] : [right.filter((ordinal) => hits.includes(ordinal)).length / right.length];
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

export interface Recommendation {
  /** Whether any setting holds the target at the largest size, one search at a time. */
  readonly held: boolean;
  readonly settings: Readonly<Record<string, string | number>>;
  /** For people, each with the figures it rests on. */
  readonly sentences: readonly string[];
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;
/** Differences below this are noise of the machine. */
const WORTH = 0.1;

/** Undefined when no cell of the largest size was measured. */
export function recommend(
  cells: readonly CellFigures[],
  corpora: readonly CorpusFigures[],
  dimensions: Dimensions,
  targetMs: number,
): Recommendation | undefined {
  const [layout, setting] = [layoutsOf(dimensions)[0], settingsOf(dimensions)[0]];
  const size = Math.max(...cells.map((cell) => cell.size));
  if (layout === undefined || setting === undefined || !Number.isFinite(size)) return undefined;
  const like = (part: Partial<CellFigures>) => (cell: CellFigures) =>
    Object.entries({ size, ...layout, ...setting, ...part }).every(([name, value]) => cell[name as keyof CellFigures] === value);
  const choices = dimensions.indexes.flatMap((index) =>
    dimensions.neighbours.flatMap((neighbours) => cells.filter(like({ index, neighbours }))),
  );
  if (choices.length === 0) return undefined;
  const judged = choices.map((cell) => ({ cell, agrees: agreement(cell, cells, setting.neighbours) }));
  const within = judged.filter(({ cell }) => cell.rest.p95_ms <= targetMs);
  const held = within.length > 0;
  // Quality first, to a hundredth; then speed. Where nothing holds the target, the fastest.
  const quality = (agrees: number | undefined): number => Math.round((agrees ?? 0) * 100);
  const [best] = (held ? within : judged).sort((a, b) =>
    held && quality(a.agrees) !== quality(b.agrees) ? quality(b.agrees) - quality(a.agrees) : a.cell.rest.p95_ms - b.cell.rest.p95_ms,
  );
  if (best === undefined) return undefined;
  const { cell, agrees } = best;
  const sentences = [
    `${size} memories, one search at a time: ${cell.index} with ${cell.neighbours} neighbours answers in ${ms(cell.rest.p50_ms)} / ` +
      `${ms(cell.rest.p95_ms)} / ${ms(cell.rest.p99_ms)} (p50 / p95 / p99)` +
      (agrees === undefined ? '' : `, with ${(100 * agrees).toFixed(1)} % of the hits of an exact search`) +
      (held ? `: within the target of ${ms(targetMs)}.` : `: the fastest measured, and over the target of ${ms(targetMs)}.`),
  ];
  const crowds = cells
    .filter((other) => like({ index: cell.index, concurrency: other.concurrency })(other))
    .sort((a, b) => a.concurrency - b.concurrency);
  const crowd = crowds.filter((other) => other.rest.p95_ms <= targetMs).at(-1);
  const beyond = crowds.find((other) => other.rest.p95_ms > targetMs);
  if (crowd !== undefined)
    sentences.push(
      `It holds with ${crowd.concurrency} at once (p95 ${ms(crowd.rest.p95_ms)}, ${crowd.rest.per_second.toFixed(0)}/s)` +
        (beyond === undefined ? '.' : `; ${beyond.concurrency} take ${ms(beyond.rest.p95_ms)} (${beyond.rest.per_second.toFixed(0)}/s).`),
    );
  for (const other of cells.filter((one) => like({ index: cell.index, topK: one.topK, filter: one.filter })(one))) {
    if (other.topK === setting.topK && other.filter === setting.filter) continue;
    const what = other.topK === setting.topK ? `a ${other.filter} filter` : `top_k ${other.topK}`;
    sentences.push(`With ${what}: p95 ${ms(other.rest.p95_ms)}${other.rest.p95_ms > targetMs ? ', over the target' : ''}.`);
  }
  const base = cells.find(like({}));
  for (const other of cells.filter((one) => like({ namespaces: one.namespaces, tenants: one.tenants })(one))) {
    if (base === undefined || other === base) continue;
    const change = other.rest.p95_ms / base.rest.p95_ms - 1;
    if (Math.abs(change) < WORTH) continue;
    const what =
      other.tenants === base.tenants ? `${other.namespaces} namespaces instead of ${base.namespaces}` : `${other.tenants} tenants`;
    sentences.push(`Spread over ${what}, p95 is ${Math.abs(100 * change).toFixed(0)} % ${change < 0 ? 'lower' : 'higher'}.`);
  }
  const stored = corpora.find((corpus) => corpusKey(corpus) === corpusKey(cell));
  if (stored !== undefined)
    sentences.push(
      `That index takes ${(stored.index_bytes / 2 ** 20).toFixed(0)} MiB and was filled at ${stored.ingest_per_second.toFixed(0)} memories/s.`,
    );
  return {
    held,
    settings: {
      ELASTICSEARCH_VECTOR_INDEX: cell.index,
      'boosts.neighbours': cell.neighbours,
      ...(crowd === undefined ? {} : { searches_at_once: crowd.concurrency }),
    },
    sentences,
  };
}
