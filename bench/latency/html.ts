/** The latency report as one HTML file that opens offline: recommendation, plots and every figure. Pure. */
import { barChart, escapeXml, lineChart } from '../report/svg.ts';
import { corpusKey, layoutsOf, settingsOf, type Dimensions } from './plan.ts';
import { agreement, type Recommendation } from './recommend.ts';
import { SIDES, type CellFigures, type CorpusFigures, type Side } from './record.ts';

export const SIDE_LABELS: Readonly<Record<Side, string>> = {
  rest: 'memory_search over REST',
  raw: 'the same _search',
  plain: 'plain BM25 + knn, size 10',
};

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;font-size:13px}td,th{border:1px solid #ddd;padding:.2em .5em;text-align:right}th{background:#f4f4f4}
svg{max-width:100%;height:auto}.scroll{overflow-x:auto}`;

/** File name to SVG; plots without two points to draw are left out. */
export function latencyPlots(cells: readonly CellFigures[], dimensions: Dimensions, targetMs: number): ReadonlyMap<string, string> {
  const [layout, setting] = [layoutsOf(dimensions)[0], settingsOf(dimensions)[0]];
  const plots = new Map<string, string>();
  if (layout === undefined || setting === undefined || cells.length === 0) return plots;
  const size = Math.max(...cells.map((cell) => cell.size));
  const where = (part: Partial<CellFigures>): CellFigures[] =>
    cells.filter((cell) =>
      Object.entries({ ...layout, ...setting, ...part }).every(([n, v]) => v === undefined || cell[n as keyof CellFigures] === v),
    );
  const mark = { value: targetMs, label: `target ${targetMs} ms` };
  const bySize = dimensions.indexes.flatMap((index, colour) =>
    (['rest', 'raw'] as const).map((side) => ({
      name: `${index}, ${side === 'rest' ? 'REST' : 'raw'}`,
      points: where({ index }).map((cell) => [cell.size, cell[side].p95_ms] as const),
      dashed: side === 'raw',
      colour,
    })),
  );
  if (new Set(cells.map((cell) => cell.size)).size > 1)
    plots.set(
      'latency-size.svg',
      lineChart({ title: 'p95 by number of memories', x: 'memories', y: 'ms', logX: true, series: bySize, mark }),
    );
  const crowds = where({ size, concurrency: undefined as never }).sort((a, b) => a.concurrency - b.concurrency);
  if (crowds.length > 1) {
    const series = (pick: (cell: CellFigures, side: Side) => number) =>
      SIDES.map((side) => ({ name: SIDE_LABELS[side], points: crowds.map((cell) => [cell.concurrency, pick(cell, side)] as const) }));
    const x = 'searches at once';
    plots.set(
      'latency-concurrency.svg',
      lineChart({ title: `p95 at ${size} memories`, x, y: 'ms', logX: true, series: series((cell, side) => cell[side].p95_ms), mark }),
    );
    plots.set(
      'latency-throughput.svg',
      lineChart({
        title: `Searches a second at ${size} memories`,
        x,
        y: '1/s',
        logX: true,
        series: series((cell, side) => cell[side].per_second),
      }),
    );
  }
  const largest = cells.filter((cell) => cell.size === size && cell.concurrency === setting.concurrency);
  plots.set(
    'latency-settings.svg',
    barChart({
      title: `p95 at ${size} memories, ${setting.concurrency} at a time, ms`,
      series: SIDES.map((side) => SIDE_LABELS[side]),
      rows: largest.map((cell) => ({ label: labelOf(cell), bars: SIDES.map((side) => ({ value: cell[side].p95_ms })) })),
      format: (value) => value.toFixed(1),
    }),
  );
  return plots;
}

function labelOf(cell: CellFigures): string {
  const tenants = cell.tenants === 1 ? '' : `, ${cell.tenants} tenants`;
  return `${cell.index}, ${cell.namespaces} ns${tenants}, top ${cell.topK}, n ${cell.neighbours}${cell.filter === 'none' ? '' : `, ${cell.filter}`}`;
}

/** Head and rows of the table of all cells, for HTML and markdown alike. */
export function cellTable(cells: readonly CellFigures[], baseNeighbours: number): { head: string[]; rows: string[][] } {
  const three = (f: CellFigures[Side]): string => [f.p50_ms, f.p95_ms, f.p99_ms].map((v) => v.toFixed(1)).join(' / ');
  return {
    head: [
      'memories',
      'index',
      'namespaces',
      'tenants',
      'top_k',
      'neighbours',
      'filter',
      'at once',
      'REST p50 / p95 / p99 ms',
      'raw',
      'plain',
      'REST/raw p50',
      'REST/plain p50',
      'REST 1/s',
      'raw 1/s',
      'as exact',
    ],
    rows: cells.map((cell) => {
      const agrees = agreement(cell, cells, baseNeighbours);
      return [
        String(cell.size),
        cell.index,
        String(cell.namespaces),
        String(cell.tenants),
        String(cell.topK),
        String(cell.neighbours),
        cell.filter,
        String(cell.concurrency),
        three(cell.rest),
        three(cell.raw),
        three(cell.plain),
        (cell.rest.p50_ms / cell.raw.p50_ms).toFixed(2),
        (cell.rest.p50_ms / cell.plain.p50_ms).toFixed(2),
        cell.rest.per_second.toFixed(0),
        cell.raw.per_second.toFixed(0),
        agrees === undefined ? '–' : `${(100 * agrees).toFixed(1)} %`,
      ];
    }),
  };
}

/** The same for the imports. */
export function corpusTable(corpora: readonly CorpusFigures[]): { head: string[]; rows: string[][] } {
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
  return {
    head: ['memories', 'index', 'namespaces', 'tenants', 'ingest 1/s', 'index MiB', 'segments', 'heap used / max MiB'],
    rows: corpora.map((corpus) => [
      String(corpus.size),
      corpus.index,
      String(corpus.namespaces),
      String(corpus.tenants),
      corpus.ingest_per_second.toFixed(0),
      mib(corpus.index_bytes),
      String(corpus.segments),
      `${mib(corpus.heap_used_bytes)} / ${mib(corpus.heap_max_bytes)}`,
    ]),
  };
}

export function latencyHtml(parts: {
  readonly machine: string;
  readonly cells: readonly CellFigures[];
  readonly corpora: readonly CorpusFigures[];
  readonly dimensions: Dimensions;
  readonly recommendation: Recommendation | undefined;
  readonly targetMs: number;
}): string {
  const { machine, cells, corpora, dimensions, recommendation, targetMs } = parts;
  const table = ({ head, rows }: { head: string[]; rows: string[][] }): string => {
    const row = (tag: string, values: readonly string[]): string =>
      `<tr>${values.map((v) => `<${tag}>${escapeXml(v)}</${tag}>`).join('')}</tr>`;
    return `<div class="scroll"><table>${row('th', head)}${rows.map((values) => row('td', values)).join('\n')}</table></div>`;
  };
  const settings = Object.entries(recommendation?.settings ?? {}).map(
    ([name, value]) => `<li><code>${escapeXml(`${name}: ${value}`)}</code></li>`,
  );
  const sentences = (recommendation?.sentences ?? ['Nothing was measured.']).map((sentence) => `<p>${escapeXml(sentence)}</p>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hindsight-es: latency</title><style>${STYLE}</style></head><body>
<h1>Latency of memory_search</h1>
<p>${escapeXml(machine)}</p>
<p>Every cell asks the same questions of the service over REST, of Elasticsearch with the very <code>_search</code> the service sends, and with a plain
match + knn query of size 10, block by block in turn. Vectors are made up in clusters and were given; query vectors were ready. “As exact”: share of the
hits that a search without a graph finds; a hard case, because made-up vectors are nearly equally far from a question’s, so that small differences decide.</p>
<h2>For a p95 of ${targetMs} ms</h2>
<ul>${settings.join('')}</ul>
${sentences.join('\n')}
${[...latencyPlots(cells, dimensions, targetMs).values()].join('\n')}
<h2>Imports</h2>
${table(corpusTable(corpora))}
<h2>All cells (${new Set(cells.map(corpusKey)).size} layouts and sizes)</h2>
${table(cellTable(cells, dimensions.neighbours[0] ?? 0))}
</body></html>
`;
}
