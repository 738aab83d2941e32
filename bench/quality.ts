/** npm run bench:quality: retrieval quality over REST on labelled sets, with intervals, and what each part of the ranking is worth. */
import { join, resolve } from 'node:path';
import { askSet } from './quality/ask.ts';
import { checkEmbedding, openEmbeddings } from './quality/embeddings.ts';
import type { Answers } from './quality/figures.ts';
import { qualityFigures, qualityMarkdown, qualityPlots, type MeasuredSet } from './quality/report.ts';
import { rankingRows, RRF_ROW, VECTOR_ROW } from './quality/rows.ts';
import { StoredSets, tenantOf } from './quality/stored-sets.ts';
import { BOOTSTRAP } from './support/bootstrap.ts';
import { firstCopies, LEFT_OUT, readSet, setNames, type QueryRow, type RetrievalSet } from './support/dataset.ts';
import { embedded } from './support/embedded.ts';
import { fingerprintOf } from './support/fingerprint.ts';
import { HttpClient } from './support/http-client.ts';
import { COMMON_OPTIONS, type BenchCommand, type Options } from './support/options.ts';
import { progress } from './support/progress.ts';
import { sample } from './support/random.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { BenchService } from './support/service.ts';
import { tenantToken } from './support/tokens.ts';
import { loadProfiles } from '../src/ranking/profile.ts';

const ROOT = join(import.meta.dirname, '..');

const COMMAND: BenchCommand = {
  name: 'bench:quality',
  summary: 'recall@1/5/10/20, nDCG@10 and MRR over REST on the labelled sets of a folder, with intervals and an ablation',
  options: {
    data: { description: 'folder with <set>.<split>.corpus.jsonl and <set>.<split>.queries.jsonl', default: '../shared/data/retrieval' },
    sets: { description: 'sets to measure, or all', default: 'all' },
    limit: { description: 'questions a set at most, drawn by a fixed seed' },
    profile: { description: 'ranking profile taken as the default', default: 'assistant' },
    embedding: {
      description: 'EMBEDDING_PROFILE: local, local-multilingual, or openai (the multilingual model behind a server of the bench)',
      default: 'local',
    },
    'no-ablation': { description: 'measure the default ranking alone', flag: true },
    'ablation-limit': { description: 'questions a set at most for the other rankings, drawn by a fixed seed; all by default' },
    'merge-copies': {
      description: 'count documents of one namespace with the same speaker and text as one; a search shows one of them',
      flag: true,
    },
    work: {
      description: 'folder kept between runs with the imported sets (and, without --engine, the Elasticsearch that holds them)',
      default: '.cache/bench/quality',
    },
    trust: { description: 'keep stored sets although the code that wrote them has changed since', flag: true },
    out: { description: 'folder for the results', default: 'bench/results' },
    engine: COMMON_OPTIONS.engine,
    'no-results': COMMON_OPTIONS['no-results'],
  },
};

await runBench(COMMAND, measure, { check: readSets, keptFolder: (options) => resolve(ROOT, options.text('work')) });

/** All sets asked for; a missing folder or a wrong name costs no time. */
function readSets(options: Options): RetrievalSet[] {
  const folder = resolve(ROOT, options.text('data'));
  const wanted = options.list('sets');
  const names = wanted.length === 1 && wanted[0] === 'all' ? setNames(folder) : wanted;
  for (const name of ['limit', 'ablation-limit']) atMost(options, name);
  checkEmbedding(options.text('embedding'));
  return names.map((name) => readSet(folder, name));
}

function atMost(options: Options, name: string): number | undefined {
  return options.optional(name) === undefined ? undefined : options.count(name);
}

/** Questions with figures of their own, at most `limit`, the same ones in every run. */
function questionsOf(set: RetrievalSet, limit: number | undefined): readonly QueryRow[] {
  return drawn(
    set.queries.filter((query) => !LEFT_OUT.has(query.category)),
    limit,
  );
}

function drawn(queries: readonly QueryRow[], limit: number | undefined): readonly QueryRow[] {
  return limit === undefined ? queries : sample(queries, limit, BOOTSTRAP.seed);
}

async function measure(run: BenchRun): Promise<Record<string, unknown>> {
  const { engine, options } = run;
  const sets = readSets(options);
  const ablation = !options.flag('no-ablation');
  const rows = rankingRows(options.text('profile'), loadProfiles(join(ROOT, 'policies', 'ranking')), ablation);
  const fewer = ablation ? atMost(options, 'ablation-limit') : undefined;

  const engineName = run.foreignEngine ? fingerprintOf(engine.url) : 'own';
  const embedding = options.text('embedding');
  const stored = StoredSets.open(join(run.folder, `sets-${engineName}${embedding === 'local' ? '' : `-${embedding}`}.json`), engine);
  const stale = await stored.stale(sets, options.flag('trust'));
  const embeddings = await openEmbeddings(embedding);
  const service = await BenchService.start({ engineUrl: engine.url, prefix: stored.prefix, folder: run.folder, env: embeddings.env });
  const measured: MeasuredSet[] = [];
  const compared: Answers[] = [];
  try {
    const clientOf = async (set: RetrievalSet): Promise<HttpClient> =>
      new HttpClient(service.url, { authorization: `Bearer ${await tenantToken(service.dataDir, tenantOf(set.name))}` }, 2);
    for (const set of stale) await using(await clientOf(set), (client) => stored.write(set, client));
    for (const set of sets) await embedded(engine, stored.index(set.name), set.name);
    for (const set of sets) {
      const queries = questionsOf(set, atMost(options, 'limit'));
      const copies = options.flag('merge-copies') ? firstCopies(set.corpus) : new Map<string, string>();
      const documents = stored.documents(set.name);
      const labels = { documents, copies };
      const few = drawn(queries, fewer);
      const inAll = few.length === queries.length ? rows : rows.slice(0, 1);
      const asked = await using(await clientOf(set), async (client) => {
        const all = await askSet(client, set.name, queries, inAll, labels);
        compared.push(inAll === rows ? all.answers : (await askSet(client, set.name, few, rows, labels)).answers);
        return all;
      });
      const { p50_ms: p50Ms, p95_ms: p95Ms } = asked.latency.summary();
      const leftOut = set.queries.length - queries.length;
      measured.push({ ...asked.answers, documents: set.corpus.length, memories: documents.size, leftOut, p50Ms, p95Ms });
    }
  } finally {
    await service.stop();
    await embeddings.close();
  }

  progress('bootstrap');
  const names = rows.flatMap((row) => (row.name === VECTOR_ROW ? [row.name, RRF_ROW] : [row.name]));
  const markdown = qualityMarkdown(measured, compared, names);
  run.print(`\n${markdown}`);
  run.attach('quality.md', `${run.machine.line}\n\n${markdown}\n`);
  for (const [file, svg] of qualityPlots(measured, compared, names)) run.attach(file, svg);
  return {
    profile: options.text('profile'),
    embedding,
    copies_merged: options.flag('merge-copies'),
    ...qualityFigures(measured, compared, names),
  };
}

async function using<T>(client: HttpClient, work: (client: HttpClient) => Promise<T>): Promise<T> {
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
