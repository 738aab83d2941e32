/** One layout's data and the service over it: grows the import, learns the requests the service sends, hands out the calls that cells time. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Corpus, CORPUS_END, type CorpusItem, type CorpusQuery } from '../support/corpus.ts';
import type { HttpCall } from '../support/http-client.ts';
import { batchBody, batches, inTurn, sendBatch } from '../support/import.ts';
import { progressOf } from '../support/progress.ts';
import { plainQuery, withFreshExpiry } from '../support/query-forms.ts';
import { RecordingProxy } from '../support/recording-proxy.ts';
import type { BenchRun } from '../support/run.ts';
import { BenchService } from '../support/service.ts';
import { tenantToken } from '../support/tokens.ts';
import { corpusKey, FILTERS, shapeKey, type Layout, type Setting } from './plan.ts';
import type { CorpusFigures, Side } from './record.ts';

const BATCH = 500;
const POLICIES = join(import.meta.dirname, '..', '..', 'policies');
const profileName = (neighbours: number): string => `bench-n${neighbours}`;

/** One question's calls of the three sides, made anew for each sending. */
export type Calls = Readonly<Record<Side, () => HttpCall>>;

/** Policies with one more ranking profile for each number of neighbours. */
export function benchPolicies(folder: string, neighbours: readonly number[]): string {
  const target = join(folder, 'policies');
  mkdirSync(target, { recursive: true });
  cpSync(POLICIES, target, { recursive: true });
  for (const n of neighbours) {
    const profile = { extends: 'assistant', version: 1, description: `assistant with ${n} neighbours`, boosts: { neighbours: n } };
    writeFileSync(join(target, 'ranking', `${profileName(n)}.yaml`), JSON.stringify(profile)); // JSON is YAML
  }
  return target;
}

export class LayoutData {
  readonly #run: BenchRun;
  readonly #layout: Layout;
  readonly #prefix: string;
  readonly #corpus: Corpus;
  readonly #policies: string;
  readonly #ordinals = new Map<string, number>();
  readonly #tokens: string[] = [];
  #perSecond = Number.NaN;
  #size = 0;

  constructor(run: BenchRun, layout: Layout, policies: string) {
    this.#run = run;
    this.#layout = layout;
    this.#policies = policies;
    this.#prefix = run.prefix('lat');
    this.#corpus = new Corpus({ seed: run.options.count('seed'), namespaces: layout.namespaces, vectors: true });
  }

  queries(count: number): CorpusQuery[] {
    return this.#corpus.queries(count);
  }

  /** The service on this layout's indices; `engineUrl` may be a proxy. */
  async service(engineUrl = this.#run.engine.url): Promise<BenchService> {
    const env = { ELASTICSEARCH_VECTOR_INDEX: this.#layout.index, POLICIES_DIR: this.#policies };
    const service = await BenchService.start({ engineUrl, prefix: this.#prefix, folder: this.#run.folder, env });
    this.#tokens.length = 0;
    for (let t = 0; t < this.#layout.tenants; t += 1) this.#tokens.push(await tenantToken(service.dataDir, `tenant${t}`));
    return service;
  }

  /** Position in the corpus of a memory that was found. */
  ordinal(memoryId: string): number {
    return this.#ordinals.get(memoryId) ?? -1;
  }

  restCall({ query, namespace }: CorpusQuery, { topK, neighbours, filter }: Setting): HttpCall {
    const body = {
      query,
      namespaces: [namespace],
      asked_at: CORPUS_END,
      top_k: topK,
      profile: profileName(neighbours),
      filter: FILTERS[filter],
    };
    return { method: 'POST', path: '/v1/memories/search', headers: this.#authorized(namespace), body: JSON.stringify(body) };
  }

  /** Writes what is missing up to `size`, through a service that is stopped again; then learns what each shape of search sends. */
  async grow(size: number, queries: readonly CorpusQuery[], shapes: readonly Setting[]): Promise<ReadonlyMap<string, readonly Calls[]>> {
    const proxy = await RecordingProxy.start(this.#run.engine.url);
    try {
      const service = await this.service(proxy.url);
      const client = service.client(2);
      try {
        let [done, busyMs] = [0, 0];
        const missing = size - this.#size;
        const told = progressOf(`${corpusKey({ ...this.#layout, size })}: import`, missing);
        while (done < missing) {
          const groups = this.#byTenant(this.#corpus.next(Math.min(4 * BATCH, missing - done)), this.#size + done);
          const bodies = groups.flatMap((group) => batches(group, BATCH));
          const from = performance.now();
          await inTurn(bodies, 2, async (items) => {
            const headers = this.#authorized(items[0]?.item.namespace ?? '');
            const ids = await sendBatch(client, batchBody(items.map(({ item }) => item)), headers);
            for (const [i, id] of ids.entries()) this.#ordinals.set(id, items[i]?.ordinal ?? -1);
            done += items.length;
            proxy.clear();
          });
          busyMs += performance.now() - from;
          told(done);
        }
        if (missing > 0) this.#perSecond = (missing * 1_000) / busyMs;
        this.#size = size;
        await this.#run.engine.settle();
        const recorded = new Map<string, Calls[]>();
        for (const shape of shapes) {
          const calls: Calls[] = [];
          for (const query of queries) {
            proxy.clear();
            const answer = await client.json<{ degraded: string[] }>(this.restCall(query, shape));
            if (answer.degraded.length > 0) throw new Error(`the search was degraded: ${answer.degraded.join(', ')}`);
            calls.push(this.#callsOf(query, shape, proxy));
          }
          recorded.set(shapeKey(shape), calls);
        }
        return recorded;
      } finally {
        client.close();
        await service.stop();
      }
    } finally {
      await proxy.stop();
    }
  }

  /** Size and heap as they stand after the import. */
  async figures(): Promise<CorpusFigures> {
    const { engine } = this.#run;
    const pattern = `${this.#prefix}-mem-*-g*`;
    const stats = await engine.indexFigures(pattern);
    return { ...this.#layout, size: this.#size, ingest_per_second: this.#perSecond, ...stats, ...(await engine.heap()) };
  }

  async drop(): Promise<void> {
    await this.#run.engine.drop(this.#prefix);
  }

  #callsOf(query: CorpusQuery, shape: Setting, proxy: RecordingProxy): Calls {
    const search = proxy
      .clear()
      .findLast((call) => /-mem-[^/]*\/_search/.test(call.path) && `${call.path}${call.body}`.includes('include_named_queries_score'));
    if (search === undefined) throw new Error('the service sent no _search');
    const { method, path, body } = search;
    const headers = { 'content-type': search.contentType, accept: search.accept };
    const plainPath = `${path.split('/_search')[0] ?? ''}/_search`;
    const plain = plainQuery(body);
    const rest = this.restCall(query, shape);
    return {
      rest: () => rest,
      raw: () => ({ method, path, headers, body: withFreshExpiry(body, Date.now()) }),
      plain: () => ({ method: 'POST', path: plainPath, body: withFreshExpiry(plain, Date.now()) }),
    };
  }

  /** A batch goes to one tenant; namespaces take turns over the tenants. */
  #byTenant(items: readonly CorpusItem[], from: number): { item: CorpusItem; ordinal: number }[][] {
    const groups: { item: CorpusItem; ordinal: number }[][] = Array.from({ length: this.#layout.tenants }, () => []);
    for (const [i, item] of items.entries()) groups[this.#tenantOf(item.namespace)]?.push({ item, ordinal: from + i });
    return groups;
  }

  #tenantOf(namespace: string): number {
    return Number(/\d+$/.exec(namespace)?.[0] ?? 0) % this.#layout.tenants;
  }

  #authorized(namespace: string): { authorization: string } {
    return { authorization: `Bearer ${this.#tokens[this.#tenantOf(namespace)] ?? ''}` };
  }
}
