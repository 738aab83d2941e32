/** npm run bench:recall: retrieval quality over REST on the labelled sets of a folder: import, wait for vectors, ask every question. */
import { resolve } from 'node:path';
import { documentsOf, LEFT_OUT, namespaceOf, readSet, setItems, setNames, type RetrievalSet } from './support/dataset.ts';
import { embedded } from './support/embedded.ts';
import type { HttpClient } from './support/http-client.ts';
import { batchBody, batches, inTurn, sendBatch } from './support/import.ts';
import { Latency } from './support/latency.ts';
import { COMMON_OPTIONS, type BenchCommand, type Options } from './support/options.ts';
import { progressOf } from './support/progress.ts';
import { meanFigures, rankingFigures, type RankingFigures } from './support/ranking-metrics.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:recall',
  summary: 'recall@1/5/10, nDCG@10 and MRR over REST on the labelled sets of a folder',
  options: {
    data: { description: 'folder with <set>.<split>.corpus.jsonl and <set>.<split>.queries.jsonl', default: '../shared/data/retrieval' },
    sets: { description: 'sets to measure, or all', default: 'memorybank_zh,memorybank_en' },
    ranking: { description: 'ranking profile of the searches', default: 'assistant' },
    ...COMMON_OPTIONS,
  },
};

const BATCH = 250;
const TOP_K = 10;
/** With documents in parts, several hits may be one document. */
const TOP_K_PARTS = 20;

await runBench(
  COMMAND,
  async (run) => {
    run.print(`${'set'.padEnd(22)}  docs  queries   R@1    R@5    R@10   nDCG@10  MRR    search p50`);
    const figures: unknown[] = [];
    for (const [i, set] of readSets(run.options).entries()) figures.push(await measure(run, run.prefix(`recall${i}`), set));
    return { ranking: run.options.text('ranking'), sets: figures };
  },
  { check: readSets },
);

/** All sets asked for; a missing folder or a wrong name costs no time. */
function readSets(options: Options): RetrievalSet[] {
  const folder = resolve(import.meta.dirname, '..', options.text('data'));
  const wanted = options.list('sets');
  const names = wanted.length === 1 && wanted[0] === 'all' ? setNames(folder) : wanted;
  return names.map((name) => readSet(folder, name));
}

/** Each set in indices of its own, so that a set's figure does not hang on which others were asked for. */
async function measure(run: BenchRun, prefix: string, set: RetrievalSet): Promise<unknown> {
  const { engine, options, print } = run;
  const service = await BenchService.start({ engineUrl: engine.url, prefix, folder: run.folder, profile: options.optional('profile') });
  const client = service.client(2);
  try {
    const documents = await importSet(client, set);
    await embedded(engine, `${prefix}-mem-*-g*`, set.name);
    const queries = set.queries.filter((query) => !LEFT_OUT.has(query.category));
    const parts = documents.size > set.corpus.length;
    const latency = new Latency();
    const byCategory = new Map<string, RankingFigures[]>();
    const told = progressOf(`${set.name}: questions`, queries.length);
    for (const [i, row] of queries.entries()) {
      const body = JSON.stringify({
        query: row.query,
        namespaces: [namespaceOf(row)],
        asked_at: row.asked_at,
        top_k: parts ? TOP_K_PARTS : TOP_K,
        profile: options.text('ranking'),
      });
      const answer = await latency.time(() =>
        client.json<{ hits: { memory_id: string }[]; degraded: string[] }>({ method: 'POST', path: '/v1/memories/search', body }),
      );
      if (answer.degraded.length > 0) throw new Error(`a search was degraded: ${answer.degraded.join(', ')}`);
      const ranked = documentsOf(
        answer.hits.map((hit) => hit.memory_id),
        documents,
      );
      const found = byCategory.get(row.category) ?? [];
      found.push(rankingFigures(ranked, new Set(row.relevant)));
      byCategory.set(row.category, found);
      told(i + 1);
    }
    const all = meanFigures([...byCategory.values()].flat());
    const { p50_ms, p95_ms } = latency.summary();
    const cells = [all.recall_1, all.recall_5, all.recall_10, all.ndcg_10, all.mrr].map((x) => x.toFixed(3));
    print(
      `${set.name.padEnd(22)}  ${String(set.corpus.length).padEnd(6)}${String(queries.length).padEnd(8)}  ${cells.join('  ')}    ${p50_ms.toFixed(1)} ms`,
    );
    return {
      set: set.name,
      documents: set.corpus.length,
      queries: queries.length,
      left_out: set.queries.length - queries.length,
      ...all,
      search_p50_ms: p50_ms,
      search_p95_ms: p95_ms,
      categories: Object.fromEntries([...byCategory].map(([name, rows]) => [name, { queries: rows.length, ...meanFigures(rows) }])),
    };
  } finally {
    client.close();
    await service.stop();
  }
}

/** Document of each memory id. One call at a time: the turns of a session follow each other. */
async function importSet(client: HttpClient, set: RetrievalSet): Promise<Map<string, string>> {
  const items = setItems(set.corpus);
  const documents = new Map<string, string>();
  const told = progressOf(`${set.name}: import`, items.length);
  await inTurn(batches(items, BATCH), 1, async (batch) => {
    const ids = await sendBatch(client, batchBody(batch.map(({ item }) => item)));
    for (const [i, id] of ids.entries()) documents.set(id, batch[i]?.documentId ?? '');
    told(documents.size);
  });
  return documents;
}
