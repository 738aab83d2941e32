/** npm run bench:audit: what the audit log and the recall trace cost: the service with them and without, by turns, on one engine. */
import { Corpus } from './support/corpus.ts';
import { HttpClient } from './support/http-client.ts';
import { inTurn } from './support/import.ts';
import { Latency, median } from './support/latency.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:audit',
  summary: 'memory_write and memory_search with the audit log and the recall trace on and off, beside a raw index call',
  options: {
    rounds: { description: 'rounds; each asks both services, in turned order', default: '5' },
    writes: { description: 'writes of one client a round and side', default: '150' },
    crowd: { description: 'writes at many clients a round and side', default: '1000' },
    clients: { description: 'clients of the crowd', default: '32' },
    searches: { description: 'searches of one client a round and side', default: '150' },
    seed: { description: 'seed of the made-up memories', default: '1' },
    ...COMMON_OPTIONS,
  },
};

type Side = 'on' | 'off';
const SIDES: readonly Side[] = ['on', 'off'];

await runBench(COMMAND, async (run) => {
  const { options, engine, print } = run;
  const corpus = new Corpus({ seed: options.count('seed'), namespaces: 5, vectors: true });
  const raw = new HttpClient(engine.url);
  const services = new Map<Side, BenchService>();
  const one = new Map<Side, HttpClient>();
  const many = new Map<Side, HttpClient>();
  const write = { on: new Latency(), off: new Latency() };
  const search = { on: new Latency(), off: new Latency() };
  const rawWrite = new Latency();
  const ratios: { readonly throughput: number; readonly write: number; readonly search: number; readonly searchCpu: number }[] = [];
  try {
    for (const side of SIDES) {
      const service = await BenchService.start({
        engineUrl: engine.url,
        prefix: run.prefix(`audit${side}`),
        folder: `${run.folder}/${side}`,
        env: side === 'on' ? {} : { AUDIT: 'off', RECALL_TRACE: 'off' },
      });
      services.set(side, service);
      one.set(side, service.client());
      many.set(side, service.client(options.count('clients')));
    }
    const rawIndex = run.prefix('auditraw');
    await stored(one.get('on') as HttpClient, corpus.next(1)[0] as object);
    await engine.cloneEmpty(await engine.memoryIndex(run.prefix('auditon')), rawIndex);
    let made = 0;
    for (let round = 0; round <= options.count('rounds'); round += 1) {
      const parts = new Map<Side, { rate: number; write: Latency; search: Latency; cpu: number }>();
      for (const side of round % 2 === 0 ? SIDES : [...SIDES].reverse()) {
        const [client, crowd] = [one.get(side) as HttpClient, many.get(side) as HttpClient];
        const part = { rate: 0, write: new Latency(), search: new Latency(), cpu: 0 };
        const items = corpus.next(options.count('writes'));
        for (const item of items) {
          await part.write.time(() => stored(client, item));
          made += 1;
          const { vectors: _vectors, ...document } = item as unknown as Record<string, unknown>;
          const body = JSON.stringify(document);
          if (round > 0) await rawWrite.time(() => raw.json({ method: 'PUT', path: `/${rawIndex}/_create/raw${made}`, body }));
        }
        const bodies = corpus.next(options.count('crowd'));
        const from = performance.now();
        await inTurn(bodies, options.count('clients'), async (item) => stored(crowd, item));
        part.rate = bodies.length / ((performance.now() - from) / 1_000);
        await engine.settle();
        const before = services.get(side)?.cpuMs() ?? Number.NaN;
        for (let i = 0; i < options.count('searches'); i += 1) {
          const { content, namespace } = items[i % items.length] as { content: string; namespace: string };
          const body = JSON.stringify({ query: content, namespaces: [namespace] });
          await part.search.time(() => client.json({ method: 'POST', path: '/v1/memories/search', body }));
        }
        part.cpu = (services.get(side)?.cpuMs() ?? Number.NaN) - before;
        parts.set(side, part);
      }
      const [on, off] = [parts.get('on'), parts.get('off')];
      if (on === undefined || off === undefined || round === 0) continue;
      for (const [side, part] of parts) {
        write[side].merge(part.write);
        search[side].merge(part.search);
      }
      ratios.push({
        throughput: on.rate / off.rate,
        write: on.write.percentile(50) - off.write.percentile(50),
        search: on.search.percentile(50) / off.search.percentile(50),
        searchCpu: (on.cpu - off.cpu) / options.count('searches'),
      });
      progress(`round ${round}: ${on.rate.toFixed(0)} writes/s with, ${off.rate.toFixed(0)} without`);
    }
  } finally {
    for (const client of [...one.values(), ...many.values(), raw]) client.close();
    for (const service of services.values()) await service.stop();
  }
  const figures = {
    write_p50_ms: { on: write.on.percentile(50), off: write.off.percentile(50), raw_index: rawWrite.percentile(50) },
    write_added_ms: median(ratios.map((r) => r.write)),
    throughput_ratio: median(ratios.map((r) => r.throughput)),
    search_p50_ms: { on: search.on.percentile(50), off: search.off.percentile(50) },
    search_ratio: median(ratios.map((r) => r.search)),
    search_added_cpu_ms: median(ratios.map((r) => r.searchCpu)),
  };
  const { write_p50_ms: w, search_p50_ms: s } = figures;
  print(`audit log and recall trace, ${options.count('rounds')} rounds (medians over rounds):`);
  print(
    `  memory_write, one client, p50      ${w.on.toFixed(2)} ms with, ${w.off.toFixed(2)} without: + ${figures.write_added_ms.toFixed(2)} ms; a raw index call ${w.raw_index.toFixed(2)} ms (target: at most one)`,
  );
  print(
    `  writes a second, ${options.count('clients')} clients       ${figures.throughput_ratio.toFixed(2)} of those without (target: at least .90)`,
  );
  print(
    `  memory_search, one client, p50     ${s.on.toFixed(2)} ms with, ${s.off.toFixed(2)} without: ${figures.search_ratio.toFixed(2)}; ${figures.search_added_cpu_ms.toFixed(2)} ms of processor time a search (target: nothing)`,
  );
  return { ...figures, rounds: ratios };
});

/** One memory as given, so that the audit alone makes the difference. */
async function stored(client: HttpClient, item: object): Promise<void> {
  const body = JSON.stringify({ ...item, admission: 'keep' });
  const answer = await client.json<{ results: { outcome: string }[] }>({ method: 'POST', path: '/v1/memories', body });
  if (answer.results[0]?.outcome !== 'stored') throw new Error(`not stored: ${answer.results[0]?.outcome ?? ''}`);
}
