/** npm run bench:latency: what memory_search costs at which size, layout, index and load, and which settings hold a target. */
import { join, resolve } from 'node:path';
import { VECTOR_INDEXES, type VectorIndex } from '../src/elastic/mappings.ts';
import { benchPolicies, LayoutData, type Calls } from './latency/corpus-service.ts';
import { cellTable, corpusTable, latencyHtml, latencyPlots } from './latency/html.ts';
import { timeSides } from './latency/measure.ts';
import { cellKey, cellsOf, corpusKey, FILTERS, layoutsOf, settingsOf, shapeKey } from './latency/plan.ts';
import type { Cell, Dimensions, FilterName, Layout, Setting } from './latency/plan.ts';
import { recommend } from './latency/recommend.ts';
import { LatencyRecord } from './latency/record.ts';
import { markdownTable } from './report/markdown.ts';
import { sourceFingerprint, fingerprintOf } from './support/fingerprint.ts';
import { HttpClient } from './support/http-client.ts';
import { COMMON_OPTIONS, UsageError, type BenchCommand, type Options } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench, type BenchRun } from './support/run.ts';

const ROOT = join(import.meta.dirname, '..');
const MILLION = 1_000_000;
const QUICK_SIZE = 1_000;
const WARM_UP_CONCURRENCY = 4;
/** Names for numbers of namespaces. */
const SPREADS: Readonly<Record<string, number>> = { few: 4, many: 400 };

const COMMAND: BenchCommand = {
  name: 'bench:latency',
  summary:
    'p50, p95 and p99 of memory_search beside the same _search and a plain query; in every list the first value is the base, the others are measured one at a time',
  options: {
    sizes: { description: 'numbers of memories', default: '1000,20000,100000' },
    million: { description: 'a million memories too', flag: true },
    index: { description: `how vectors are kept: ${VECTOR_INDEXES.join(', ')}`, default: 'int8_hnsw,bbq_hnsw,flat' },
    namespaces: { description: 'few (4), many (400) or numbers', default: 'few,many' },
    tenants: { description: 'numbers of tenants, each with indices of its own', default: '1,8' },
    'top-k': { description: 'hits asked for', default: '5,20' },
    'num-candidates': { description: 'k and num_candidates of the knn clauses', default: '1000,200' },
    filters: { description: `conditions: ${Object.keys(FILTERS).join(', ')}`, default: 'none,narrow,wide' },
    concurrency: { description: 'searches at once', default: '1,8,32' },
    'target-p95': { description: 'what the recommendation is for, ms', default: '50' },
    questions: { description: 'questions asked in each cell', default: '100' },
    rounds: { description: 'times each question is asked in each cell', default: '3' },
    seed: { description: 'seed of the made-up corpus', default: '1' },
    quick: { description: `a first look: ${QUICK_SIZE} memories, one round`, flag: true },
    fresh: { description: 'measure everything anew; otherwise cells that an earlier run finished are taken over', flag: true },
    work: { description: 'folder kept between runs with the finished cells', default: '.cache/bench/latency' },
    out: { description: 'folder for the results', default: 'bench/results' },
    engine: COMMON_OPTIONS.engine,
    'no-results': COMMON_OPTIONS['no-results'],
  },
};

await runBench(COMMAND, measure, {
  check: (options) => void [dimensionsOf(options), options.count('target-p95'), options.count('questions'), options.count('rounds')],
  keptFolder: (options) => resolve(ROOT, options.text('work')),
});

function dimensionsOf(options: Options): Dimensions {
  const sizes = options.flag('quick') ? [QUICK_SIZE] : [...options.counts('sizes'), ...(options.flag('million') ? [MILLION] : [])];
  const neighbours = options.counts('num-candidates');
  if (neighbours.some((n) => n < 20 || n > 10_000)) throw new UsageError('--num-candidates takes numbers from 20 to 10000');
  const topK = options.counts('top-k');
  if (topK.some((k) => k > 20)) throw new UsageError('--top-k takes numbers from 1 to 20');
  return {
    sizes,
    indexes: oneOf<VectorIndex>(options, 'index', VECTOR_INDEXES),
    namespaces: options.list('namespaces').map((text) => SPREADS[text] ?? wholeNumber('namespaces', text)),
    tenants: options.counts('tenants'),
    topK,
    neighbours,
    filters: oneOf<FilterName>(options, 'filters', Object.keys(FILTERS) as FilterName[]),
    concurrency: options.counts('concurrency'),
  };
}

function oneOf<T extends string>(options: Options, name: string, known: readonly T[]): T[] {
  return options.list(name).map((text) => {
    const found = known.find((value) => value === text);
    if (found === undefined) throw new UsageError(`--${name} takes ${known.join(', ')}, not "${text}"`);
    return found;
  });
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`--${name} takes few, many or whole numbers from 1, not "${text}"`);
  return Number(text);
}

async function measure(run: BenchRun): Promise<Record<string, unknown>> {
  const { options, engine } = run;
  const dimensions = dimensionsOf(options);
  const [questions, rounds] = [options.count('questions'), options.flag('quick') ? 1 : options.count('rounds')];
  // Figures of other sources, seeds, rounds or engines are not these.
  const sources = sourceFingerprint(['src', 'mappings', 'policies']);
  const id = fingerprintOf([sources, options.count('seed'), questions, rounds, run.foreignEngine ? engine.url : 'own', run.machine.cpu]);
  const record = new LatencyRecord(join(run.folder, 'cells.jsonl'), id, options.flag('fresh'));
  if (!run.foreignEngine) await engine.dropIndices('bench*'); // left by a run that was killed
  const policies = benchPolicies(run.folder, dimensions.neighbours);
  const layouts = layoutsOf(dimensions);
  const all = layouts.flatMap((layout) => cellsOf(layout, dimensions));
  progress(
    `${all.length} cells in ${layouts.length} layouts, ${all.filter((cell) => record.has(cell)).length} of them finished by earlier runs`,
  );
  for (const layout of layouts) {
    const open = cellsOf(layout, dimensions).filter((cell) => !record.has(cell));
    if (open.length > 0) await measureLayout(run, layout, open, settingsOf(dimensions), { questions, rounds, policies, record });
  }

  const targetMs = options.count('target-p95');
  const [cells, corpora] = [record.cells(all), record.corpora(all)];
  const recommendation = recommend(cells, corpora, dimensions, targetMs);
  const [cellsTable, importsTable] = [cellTable(cells, dimensions.neighbours[0] ?? 0), corpusTable(corpora)];
  run.print(`\n${markdownTable(importsTable.head, importsTable.rows)}\n\n${markdownTable(cellsTable.head, cellsTable.rows)}\n`);
  for (const sentence of recommendation?.sentences ?? []) run.print(sentence);
  for (const [name, value] of Object.entries(recommendation?.settings ?? {})) run.print(`  ${name}: ${value}`);
  run.attach('latency.html', latencyHtml({ machine: run.machine.line, cells, corpora, dimensions, recommendation, targetMs }));
  for (const [file, svg] of latencyPlots(cells, dimensions, targetMs)) run.attach(file, svg);
  const figures = cells.map(({ hits: _hits, ...cell }) => cell);
  return { questions, rounds, target_p95_ms: targetMs, dimensions, recommendation, imports: corpora, cells: figures };
}

interface Work {
  readonly questions: number;
  readonly rounds: number;
  readonly policies: string;
  readonly record: LatencyRecord;
}

/** What runs first must not pay for two cold compilers. */
async function warmUp(
  calls: ReadonlyMap<string, readonly Calls[]>,
  clientsOf: (connections: number) => readonly [rest: HttpClient, raw: HttpClient],
): Promise<void> {
  const [rest, raw] = clientsOf(WARM_UP_CONCURRENCY);
  for (const shape of calls.values()) await timeSides(shape, { rest, raw, plain: raw }, WARM_UP_CONCURRENCY, 1);
  rest.close();
  raw.close();
}

/** Imports up to each size that has open cells and measures these. */
async function measureLayout(
  run: BenchRun,
  layout: Layout,
  open: readonly Cell[],
  settings: readonly Setting[],
  work: Work,
): Promise<void> {
  const data = new LayoutData(run, layout, work.policies);
  const queries = data.queries(work.questions);
  const base = settings[0]?.concurrency;
  try {
    for (const size of new Set(open.map((cell) => cell.size))) {
      const cells = open.filter((cell) => cell.size === size);
      const shapes = [...new Map(cells.map((cell) => [shapeKey(cell), cell])).values()];
      const calls = await data.grow(size, queries, shapes);
      work.record.addCorpus(await data.figures());
      const service = await data.service();
      const clientOf = (url: string, cell: Cell): HttpClient => new HttpClient(url, {}, cell.concurrency);
      try {
        await warmUp(calls, (connections) => [
          new HttpClient(service.url, {}, connections),
          new HttpClient(run.engine.url, {}, connections),
        ]);
        for (const [i, cell] of cells.entries()) {
          const [rest, raw] = [clientOf(service.url, cell), clientOf(run.engine.url, cell)];
          // Each question once, so that its vector is kept and the pages are warm; its hits tell what the settings cost in quality.
          const hits: number[][] = [];
          for (const query of queries) {
            const answer = await rest.json<{ hits: { memory_id: string }[] }>(data.restCall(query, cell));
            hits.push(answer.hits.map((hit) => data.ordinal(hit.memory_id)));
          }
          const figures = await timeSides(calls.get(shapeKey(cell)) ?? [], { rest, raw, plain: raw }, cell.concurrency, work.rounds);
          work.record.addCell({ ...cell, ...figures, ...(cell.concurrency === base ? { hits } : {}) });
          rest.close();
          raw.close();
          const { rest: r, raw: w } = figures;
          progress(`${i + 1} of ${cells.length}: ${cellKey(cell)}: p95 ${r.p95_ms.toFixed(1)} ms over REST, ${w.p95_ms.toFixed(1)} ms raw`);
        }
      } finally {
        await service.stop();
      }
    }
  } finally {
    await data.drop();
    progress(`${corpusKey({ ...layout, size: Math.max(...open.map((cell) => cell.size)) })}: removed`);
  }
}
