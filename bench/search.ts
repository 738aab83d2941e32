/** npm run bench:search: memory_search over REST beside the very `_search` it sends, straight to Elasticsearch, in turns on one machine. */
import { setTimeout as delay } from 'node:timers/promises';
import { Corpus, CORPUS_END, type CorpusQuery } from './support/corpus.ts';
import { HttpClient, type HttpCall } from './support/http-client.ts';
import { batchBody, batches, inTurn, sendBatch } from './support/import.ts';
import { Latency, median, p50p95 } from './support/latency.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { progress, progressOf } from './support/progress.ts';
import { plainQuery, withFreshExpiry } from './support/query-forms.ts';
import { RecordingProxy, type RecordedCall } from './support/recording-proxy.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:search',
  summary: 'memory_search over REST beside the same _search sent straight to Elasticsearch (one client, query vectors ready)',
  options: {
    sizes: { description: 'numbers of memories to measure at, rising', default: '5000' },
    queries: { description: 'questions per round', default: '300' },
    rounds: { description: 'rounds; each asks every question of both sides, in turns', default: '5' },
    namespaces: { description: 'namespaces the memories are spread over', default: '20' },
    clients: { description: 'clients of the crowd', default: '32' },
    crowd: { description: 'searches of the crowd, each side and round', default: '600' },
    seed: { description: 'seed of the made-up corpus', default: '1' },
    ...COMMON_OPTIONS,
  },
};

const BATCH = 500;
const FRESH_QUERIES = 100;
/** Beside a plain query, from 20,000 memories on. */
const PLAIN_TARGET = 2;
/** Searches a second of the crowd beside those of the raw query. */
const CROWD_TARGET = 0.7;
/** Targets of the median ratio; bigger corpora have a heavier search, beside which the service weighs less. */
const TARGETS = [
  { size: 100_000, ratio: 1.4 },
  { size: 20_000, ratio: 1.8 },
];

const searchCall = ({ query, namespace }: CorpusQuery) => ({
  method: 'POST',
  path: '/v1/memories/search',
  body: JSON.stringify({ query, namespaces: [namespace], asked_at: CORPUS_END }),
});

interface Side {
  readonly p50_ms: number;
  readonly p95_ms: number;
}

await runBench(COMMAND, async (run) => {
  const { options } = run;
  const prefix = run.prefix('search');
  const sizes = options.counts('sizes').sort((a, b) => a - b);
  const corpus = new Corpus({ seed: options.count('seed'), namespaces: options.count('namespaces'), vectors: true });
  const queries = corpus.queries(options.count('queries'));
  const figures: unknown[] = [];
  let size = 0;
  for (const wanted of sizes) {
    const recorded = await importAndRecord(run, prefix, corpus, wanted - size, queries);
    size = wanted;
    figures.push(await measure(run, prefix, size, corpus, queries, recorded));
  }
  return { namespaces: options.count('namespaces'), sizes: figures };
});

/** Through the proxy: the missing memories, then each question twice; what the second time sent is what a warm search sends. */
async function importAndRecord(
  run: BenchRun,
  prefix: string,
  corpus: Corpus,
  missing: number,
  queries: readonly CorpusQuery[],
): Promise<RecordedCall[]> {
  const proxy = await RecordingProxy.start(run.engine.url);
  const service = await BenchService.start({ engineUrl: proxy.url, prefix, folder: run.folder }).catch(async (error: unknown) => {
    await proxy.stop();
    throw error;
  });
  const client = service.client(2);
  try {
    const told = progressOf('import', missing);
    let done = 0;
    while (done < missing) {
      const bodies = batches(corpus.next(Math.min(4 * BATCH, missing - done)), BATCH);
      await inTurn(bodies, 2, async (items) => {
        await sendBatch(client, batchBody(items));
        done += items.length;
        proxy.clear();
        told(done);
      });
    }
    await run.engine.settle();
    const recorded: RecordedCall[] = [];
    const others = new Map<string, number>();
    for (const query of queries) {
      await client.json(searchCall(query));
      proxy.clear();
      const answer = await client.json<{ degraded: string[] }>(searchCall(query));
      if (answer.degraded.length > 0) throw new Error(`the search was degraded: ${answer.degraded.join(', ')}`);
      const calls = proxy.clear();
      const search = calls.findLast(
        (call) => /-mem-[^/]*\/_search/.test(call.path) && `${call.path}${call.body}`.includes('include_named_queries_score'),
      );
      if (search === undefined) throw new Error('the service sent no _search');
      recorded.push(search);
      for (const call of calls) if (call !== search) others.set(kindOf(call), (others.get(kindOf(call)) ?? 0) + 1);
    }
    for (const [kind, count] of others) progress(`besides the _search, ${queries.length} warm searches sent ${count} x ${kind}`);
    return recorded;
  } finally {
    client.close();
    await service.stop();
    await proxy.stop();
  }
}

function kindOf({ method, path }: RecordedCall): string {
  return `${method} ${path.split('?')[0]?.replace(/^.*\/(?=_)/, '') ?? ''}`;
}

async function measure(
  run: BenchRun,
  prefix: string,
  size: number,
  corpus: Corpus,
  queries: readonly CorpusQuery[],
  recorded: readonly RecordedCall[],
): Promise<unknown> {
  const { options, engine, print } = run;
  const service = await BenchService.start({ engineUrl: engine.url, prefix, folder: run.folder, profile: options.optional('profile') });
  const rest = service.client();
  const raw = new HttpClient(engine.url);
  const calls = recorded.map((call) => ({
    ...call,
    headers: { 'content-type': call.contentType, accept: call.accept },
    plain: plainQuery(call.body),
    index: call.path.split('/_search')[0] ?? '',
  }));
  try {
    // Each question once, so that its vector is kept and the pages are warm; then a little rest for the engine's compiler.
    for (const [i, query] of queries.entries()) {
      await rest.json(searchCall(query));
      const call = calls[i];
      if (call !== undefined) await raw.json({ method: call.method, path: call.path, headers: call.headers, body: call.body });
    }
    const embedding = await embeddingTime(rest, corpus.queries(FRESH_QUERIES, 1));
    await delay(1_000);

    const total = { rest: new Latency(), raw: new Latency(), plain: new Latency() };
    const ratios: number[] = [];
    const rounds = options.count('rounds');
    const cpuBefore = service.cpuMs();
    const told = progressOf(`${size} memories: rounds`, rounds);
    for (let round = 0; round < rounds; round += 1) {
      const part = { rest: new Latency(), raw: new Latency(), plain: new Latency() };
      for (const [i, call] of calls.entries()) {
        const query = queries[i];
        if (query === undefined) continue;
        const overRest = searchCall(query);
        const ask = [
          () => part.rest.time(() => rest.json(overRest)),
          () => {
            const straight = { method: call.method, path: call.path, headers: call.headers, body: withFreshExpiry(call.body, Date.now()) };
            return part.raw.time(() => raw.json(straight));
          },
        ];
        // Whoever comes second finds the engine's caches warmer: take turns.
        if ((round + i) % 2 === 1) ask.reverse();
        for (const one of ask) await one();
        const plain = { method: 'POST', path: `${call.index}/_search`, body: withFreshExpiry(call.plain, Date.now()) };
        await part.plain.time(() => raw.json(plain));
      }
      ratios.push(part.rest.percentile(50) / part.raw.percentile(50));
      for (const side of ['rest', 'raw', 'plain'] as const) total[side].merge(part[side]);
      told(round + 1);
    }
    const cpuAfter = service.cpuMs();
    // whatever else it does in that time counts: what it notes of a search is written later
    const cpuMs = cpuBefore === undefined || cpuAfter === undefined ? undefined : (cpuAfter - cpuBefore) / (rounds * queries.length);
    const figures = { rest: total.rest.summary(), raw: total.raw.summary(), plain: total.plain.summary() };
    const ratio = median(ratios);
    const beside_plain = figures.rest.p50_ms / figures.plain.p50_ms;
    const target = TARGETS.find((t) => size >= t.size)?.ratio;
    const crowd = await crowdOf(run, service, queries, calls);
    print(`${size} memories in ${options.count('namespaces')} namespaces, ${queries.length} questions x ${rounds} rounds (p50 / p95):`);
    print(`  memory_search over REST           ${p50p95(figures.rest)}`);
    print(`  the same _search, straight        ${p50p95(figures.raw)}`);
    print(`  plain match + knn, size 10        ${p50p95(figures.plain)}`);
    print(
      `  ratio of medians (median of ${rounds})   ${ratio.toFixed(2)} (${ratios.map((r) => r.toFixed(2)).join(', ')})${verdict(ratio, target)}`,
    );
    print(`  beside the plain one              ${beside_plain.toFixed(2)}${verdict(beside_plain, target && PLAIN_TARGET)}`);
    print(
      `  searches a second, ${crowd.clients} clients     ${crowd.rest.toFixed(0)} beside ${crowd.raw.toFixed(0)} raw: ${crowd.ratio.toFixed(2)} (target >= ${CROWD_TARGET})`,
    );
    if (cpuMs !== undefined) print(`  processor time of the service     ${cpuMs.toFixed(2)} ms a search`);
    print(`  query vector not ready            +${embedding.p50_ms.toFixed(2)} / +${embedding.p95_ms.toFixed(2)} ms`);
    return {
      memories: size,
      queries: queries.length,
      rounds,
      ...figures,
      ratio,
      ratios,
      target,
      beside_plain,
      crowd,
      service_cpu_ms: cpuMs,
      embedding_extra: embedding,
    };
  } finally {
    rest.close();
    raw.close();
    await service.stop();
  }
}

interface Crowd {
  readonly clients: number;
  /** Searches a second. */
  readonly rest: number;
  readonly raw: number;
  readonly ratio: number;
}

/** Many clients at once, both sides in turns; the median of the rounds. */
async function crowdOf(
  { options, engine }: BenchRun,
  service: BenchService,
  queries: readonly CorpusQuery[],
  calls: readonly (HttpCall & { readonly body: string })[],
): Promise<Crowd> {
  const clients = options.count('clients');
  const tasks = Array.from({ length: options.count('crowd') });
  const [rest, raw] = [service.client(clients), new HttpClient(engine.url, {}, clients)];
  const sides = {
    rest: (i: number) => rest.json(searchCall(queries[i % queries.length] as CorpusQuery)),
    raw: (i: number) => {
      const call = calls[i % calls.length] as (typeof calls)[number];
      return raw.json({ ...call, body: withFreshExpiry(call.body, Date.now()) });
    },
  };
  const rates = { rest: [] as number[], raw: [] as number[] };
  try {
    for (let round = 0; round < options.count('rounds'); round += 1)
      for (const side of round % 2 === 0 ? (['rest', 'raw'] as const) : (['raw', 'rest'] as const)) {
        const from = performance.now();
        await inTurn(tasks, clients, async (_task, i) => void (await sides[side](i)));
        rates[side].push((1_000 * tasks.length) / (performance.now() - from));
      }
  } finally {
    rest.close();
    raw.close();
  }
  const [over, straight] = [median(rates.rest), median(rates.raw)];
  return { clients, rest: over, raw: straight, ratio: over / straight };
}

function verdict(ratio: number, target: number | undefined): string {
  return target === undefined ? '' : ` target <= ${target}: ${ratio <= target ? 'reached' : 'MISSED'}`;
}

/** New questions: the first asking embeds, the second does not; their difference is the embedding. */
async function embeddingTime(rest: HttpClient, queries: readonly CorpusQuery[]): Promise<Side> {
  const extra = new Latency();
  for (const query of queries) {
    const call = searchCall(query);
    const from = performance.now();
    await rest.json(call);
    const between = performance.now();
    await rest.json(call);
    extra.add(between - from - (performance.now() - between));
  }
  return { p50_ms: extra.percentile(50), p95_ms: extra.percentile(95) };
}
