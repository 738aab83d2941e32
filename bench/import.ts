/** npm run bench:import: import over REST (keep, vectors given) beside a raw _bulk of the same final documents into the same kind of index. */
import { Corpus } from './support/corpus.ts';
import type { BenchEngine, EngineDocument } from './support/engine.ts';
import { HttpClient } from './support/http-client.ts';
import { batchBody, inTurn, sendBatch } from './support/import.ts';
import { median } from './support/latency.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:import',
  summary: 'import over REST with admission keep and vectors given, beside a raw _bulk of the same final documents',
  options: {
    rounds: { description: 'rounds; each imports new memories, reads them back and sends them as a raw bulk', default: '3' },
    memories: { description: 'memories a round; few end before the engine begins to merge', default: '5000' },
    batch: { description: 'memories a call, both sides', default: '500' },
    concurrency: { description: 'calls at once, both sides; several values are measured apart', default: '1,2' },
    namespaces: { description: 'namespaces', default: '20' },
    seed: { description: 'seed of the made-up corpus', default: '1' },
    ...COMMON_OPTIONS,
  },
};

const TARGET = 0.7;

await runBench(COMMAND, async (run) => {
  const { options, engine, print } = run;
  const figures: unknown[] = [];
  for (const concurrency of options.counts('concurrency')) {
    const prefix = run.prefix(`import${concurrency}`);
    const service = await BenchService.start({ engineUrl: engine.url, prefix, folder: run.folder, profile: options.optional('profile') });
    const rest = service.client(concurrency);
    const raw = new HttpClient(engine.url, {}, concurrency);
    const rates: { readonly rest: number; readonly raw: number }[] = [];
    const cpu = { service: 0, engineOverRest: 0, engineRaw: 0 };
    try {
      const rounds = options.count('rounds');
      const rawIndex = `${prefix}-raw`;
      // The first round warms both sides and is not counted.
      for (let round = 0; round <= rounds; round += 1) {
        const family = `round${round}`;
        const corpus = new Corpus({ seed: options.count('seed') + round, namespaces: options.count('namespaces'), family, vectors: true });
        const bodies = chunks(corpus.next(options.count('memories')), options.count('batch')).map(batchBody);
        await engine.settle();
        const before = { service: service.cpuMs() ?? Number.NaN, engine: await engine.cpuMs() };
        const restRate = await rate(options.count('memories'), () =>
          inTurn(bodies, concurrency, async (body) => void (await sendBatch(rest, body))),
        );
        const between = { service: service.cpuMs() ?? Number.NaN, engine: await engine.cpuMs() };
        const index = await engine.memoryIndex(prefix);
        const lines = await bulkBodies(engine, index, rawIndex, family, options.count('batch'));
        if (round === 0) await engine.cloneEmpty(index, rawIndex);
        await engine.settle();
        const after = await engine.cpuMs();
        const rawRate = await rate(options.count('memories'), () => inTurn(lines, concurrency, (body) => sendBulk(raw, body)));
        progress(`concurrency ${concurrency}, round ${round}: ${restRate.toFixed(0)} docs/s over REST, ${rawRate.toFixed(0)} docs/s raw`);
        if (round === 0) continue;
        rates.push({ rest: restRate, raw: rawRate });
        cpu.service += between.service - before.service;
        cpu.engineOverRest += between.engine - before.engine;
        cpu.engineRaw += (await engine.cpuMs()) - after;
      }
    } finally {
      rest.close();
      raw.close();
      await service.stop();
      if (!options.flag('keep')) await engine.drop(prefix);
    }
    const restRate = median(rates.map((r) => r.rest));
    const rawRate = median(rates.map((r) => r.raw));
    const ratio = median(rates.map((r) => r.rest / r.raw));
    print(
      `import, batches of ${options.count('batch')}, ${concurrency} at a time, ${rates.length} rounds of ${options.count('memories')} (medians):`,
    );
    print(`  over REST, keep, vectors given    ${restRate.toFixed(0)} docs/s`);
    print(`  raw _bulk of the same documents   ${rawRate.toFixed(0)} docs/s`);
    print(`  ratio (median of rounds)          ${ratio.toFixed(2)} target >= ${TARGET}: ${ratio >= TARGET ? 'reached' : 'MISSED'}`);
    const perDoc = Object.fromEntries(
      Object.entries(cpu).map(([side, ms]) => [side, ms / (rates.length * options.count('memories'))]),
    ) as typeof cpu;
    print(
      `  processor time per memory         service ${perDoc.service.toFixed(2)} ms + engine ${perDoc.engineOverRest.toFixed(2)} ms; raw: engine ${perDoc.engineRaw.toFixed(2)} ms`,
    );
    const cpuFigures = {
      service_cpu_ms_per_doc: perDoc.service,
      engine_cpu_ms_per_doc: perDoc.engineOverRest,
      raw_engine_cpu_ms_per_doc: perDoc.engineRaw,
    };
    figures.push({ ...cpuFigures, concurrency, rest_docs_per_s: restRate, raw_docs_per_s: rawRate, ratio, target: TARGET, rounds: rates });
  }
  return { batch: options.count('batch'), memories_per_round: options.count('memories'), runs: figures };
});

/** Documents a second. */
async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return count / ((performance.now() - from) / 1_000);
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** The round's documents as they lie in the index, made into NDJSON before the clock runs: the raw side pays for sending alone. */
async function bulkBodies(engine: BenchEngine, index: string, rawIndex: string, family: string, batch: number): Promise<Buffer[]> {
  const documents: EngineDocument[] = [];
  for await (const page of engine.documents(index, { prefix: { namespace: `${family}.` } })) documents.push(...page);
  const line = ({ _id, _source }: EngineDocument): string =>
    `{"create":{"_index":"${rawIndex}","_id":"${_id}"}}\n${JSON.stringify(_source)}\n`;
  // In the order of their ids, which is the order they were written in.
  documents.sort((a, b) => (a._id < b._id ? -1 : 1));
  return chunks(documents, batch).map((part) => Buffer.from(part.map(line).join('')));
}

async function sendBulk(raw: HttpClient, body: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await raw.json<{ errors: boolean }>({ method: 'POST', path: '/_bulk', headers, body });
  if (answer.errors) throw new Error('the raw bulk had errors');
}
