/** npm run bench:write: how long memory_write takes to acknowledge, with the embedder running and stopped, beside a raw index call. */
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddingServer, hashBackend } from '../test/support/embedding-server.ts';
import { Corpus } from './support/corpus.ts';
import type { BenchEngine } from './support/engine.ts';
import { HttpClient } from './support/http-client.ts';
import { Latency, median, p50p95 } from './support/latency.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:write',
  summary: 'acknowledgement of memory_write (one item a call, one client) with the embedder running and stopped, beside a raw index call',
  options: {
    rounds: { description: 'pairs of rounds, one with the embedder and one without', default: '5' },
    writes: { description: 'writes a round', default: '150' },
    dims: { description: 'dimension of the test embedder', default: '384' },
    seed: { description: 'seed of the made-up memories', default: '1' },
    ...COMMON_OPTIONS,
  },
};

const DRAIN_TIMEOUT_MS = 60_000;

type State = 'running' | 'stopped';

interface WriteAnswer {
  readonly results: readonly { readonly outcome: string }[];
}

await runBench(COMMAND, async (run) => {
  const { options, engine, print } = run;
  const prefix = run.prefix('write');
  const backend = hashBackend(options.count('dims'));
  let embedder = await EmbeddingServer.start(backend);
  const { port, baseUrl } = embedder;
  const service = await BenchService.start({
    engineUrl: engine.url,
    prefix,
    folder: run.folder,
    profile: options.optional('profile'),
    env: { EMBEDDING_PROFILE: 'openai', EMBEDDING_BASE_URL: baseUrl, EMBEDDING_MODEL: 'hash', EMBEDDING_DIMS: options.text('dims') },
  }).catch(async (error: unknown) => {
    await embedder.stop();
    throw error;
  });
  const rest = service.client();
  const raw = new HttpClient(engine.url);
  const corpus = new Corpus({ seed: options.count('seed'), namespaces: 5, vectors: false });
  const rawIndex = `${prefix}-raw`;
  let rawDocument: Readonly<Record<string, unknown>> = {};
  let made = 0;
  const outcomes = new Map<string, number>();

  const round = async (times: { rest: Latency; raw: Latency }): Promise<void> => {
    for (const item of corpus.next(options.count('writes'))) {
      // Without `keep`, as an agent writes: with the worth filter and the duplicate check.
      const body = JSON.stringify({ ...item, admission: 'auto' });
      const { results } = await times.rest.time(() => rest.json<WriteAnswer>({ method: 'POST', path: '/v1/memories', body }));
      outcomes.set(results[0]?.outcome ?? '', (outcomes.get(results[0]?.outcome ?? '') ?? 0) + 1);
      made += 1;
      const straight = {
        method: 'PUT',
        path: `/${rawIndex}/_create/raw${made}`,
        body: JSON.stringify({ ...rawDocument, content: item.content }),
      };
      await times.raw.time(() => raw.json(straight));
    }
  };

  try {
    await rest.json({ method: 'POST', path: '/v1/memories', body: JSON.stringify(corpus.next(1)[0]) });
    const index = await engine.memoryIndex(prefix);
    await drained(engine, index);
    await engine.cloneEmpty(index, rawIndex);
    for await (const [first] of engine.documents(index, { match_all: {} })) rawDocument = withoutVectors(first?._source ?? {});
    await round({ rest: new Latency(), raw: new Latency() }); // warms both sides, not counted

    const total: Record<State, { rest: Latency; raw: Latency }> = { running: sides(), stopped: sides() };
    const ratios: number[] = [];
    for (let i = 0; i < options.count('rounds'); i += 1) {
      const parts: Record<State, { rest: Latency; raw: Latency }> = { running: sides(), stopped: sides() };
      for (const state of i % 2 === 0 ? (['running', 'stopped'] as const) : (['stopped', 'running'] as const)) {
        if (state === 'stopped') await embedder.stop();
        else await drained(engine, index); // what the last round left due would be embedded in this one
        await round(parts[state]);
        if (state === 'stopped') embedder = await EmbeddingServer.start(backend, port);
        total[state].rest.merge(parts[state].rest);
        total[state].raw.merge(parts[state].raw);
      }
      ratios.push(parts.stopped.rest.percentile(50) / parts.running.rest.percentile(50));
      progress(`round ${i + 1}: running ${p50p95(parts.running.rest.summary())}, stopped ${p50p95(parts.stopped.rest.summary())}`);
    }
    const figures = {
      running: total.running.rest.summary(),
      stopped: total.stopped.rest.summary(),
      raw_beside_running: total.running.raw.summary(),
      raw_beside_stopped: total.stopped.raw.summary(),
    };
    print(`memory_write, one item a call, one client, ${options.count('rounds')} x ${options.count('writes')} writes each (p50 / p95):`);
    print(
      `  acknowledged, embedder running    ${p50p95(figures.running)}   raw index call beside it ${p50p95(figures.raw_beside_running)}`,
    );
    print(
      `  acknowledged, embedder stopped    ${p50p95(figures.stopped)}   raw index call beside it ${p50p95(figures.raw_beside_stopped)}`,
    );
    const overRaw = {
      running: figures.running.p50_ms / figures.raw_beside_running.p50_ms,
      stopped: figures.stopped.p50_ms / figures.raw_beside_stopped.p50_ms,
    };
    // The embed job uses the engine too: what it takes from both shows in the raw call, what it takes from the write in this.
    print(
      `  over the raw call beside it       ${overRaw.running.toFixed(2)} with the embedder running, ${overRaw.stopped.toFixed(2)} stopped`,
    );
    print(`  stopped / running (median)        ${median(ratios).toFixed(2)} (${ratios.map((r) => r.toFixed(2)).join(', ')})`);
    print(`  outcomes                          ${[...outcomes].map(([outcome, n]) => `${outcome} ${n}`).join(', ')}`);
    return {
      outcomes: Object.fromEntries(outcomes),
      writes_per_round: options.count('writes'),
      ...figures,
      over_raw: overRaw,
      stopped_over_running: median(ratios),
      ratios,
    };
  } finally {
    rest.close();
    raw.close();
    await service.stop();
    await embedder.stop();
  }
});

function sides(): { rest: Latency; raw: Latency } {
  return { rest: new Latency(), raw: new Latency() };
}

function withoutVectors(source: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(source).filter(([name]) => !name.startsWith('vec_')));
}

/** Waits until the embed job has nothing left that it would still try. */
async function drained(engine: BenchEngine, index: string): Promise<void> {
  const query = { bool: { filter: [{ exists: { field: 'spaces_due' } }], must_not: [{ range: { embed_tries: { gte: 5 } } }] } };
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  for (;;) {
    const due = await engine.count(index, query);
    if (due === 0) return;
    if (performance.now() > deadline) {
      progress(`${due} records are still due for embedding; going on`);
      return;
    }
    await delay(250);
  }
}
