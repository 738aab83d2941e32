/** The Elasticsearch of a run: given by its URL, or a managed local node of the run's own; and the plain calls the benches make to it. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startLocalNode } from '../../src/elastic/local/node.ts';
import { engineCacheDir, testEngine } from '../../test/support/engine.ts';
import { HttpClient } from './http-client.ts';
import { progress } from './progress.ts';

const SETTLE_POLL_MS = 250;
const SETTLE_TIMEOUT_MS = 120_000;
const PAGE = 500;

export interface EngineDocument {
  readonly _id: string;
  readonly _source: Readonly<Record<string, unknown>>;
}

interface SearchAnswer {
  readonly pit_id?: string;
  readonly hits: {
    readonly total?: { readonly value: number };
    readonly hits: readonly (EngineDocument & { readonly sort?: unknown[] })[];
  };
}

export class BenchEngine {
  readonly url: string;
  readonly client: HttpClient;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.client = new HttpClient(url, {}, 4);
    this.#stop = stop;
  }

  /** A node of its own has its data in `folder` and dies with this process. */
  static async acquire(url: string | undefined, folder: string): Promise<BenchEngine> {
    if (url !== undefined) return new BenchEngine(url.replace(/\/+$/, ''), async () => undefined);
    progress('starting a local Elasticsearch');
    const node = await startLocalNode({
      cacheDir: engineCacheDir(),
      dataDir: join(folder, 'engine'),
      engine: testEngine(),
      open: true,
      javaHome: process.env['JAVA_HOME'],
      log: () => undefined,
      onProgress: ({ message }) => progress(message),
    });
    const kill = (): void => {
      const pid = node.pid();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    };
    process.once('exit', kill);
    return new BenchEngine(node.url, async () => {
      process.off('exit', kill);
      await node.stop();
    });
  }

  /** Number of documents a query finds in an index pattern, after a refresh. */
  async count(index: string, query: unknown): Promise<number> {
    await this.client.send({ method: 'POST', path: `/${index}/_refresh` });
    const body = JSON.stringify({ query });
    return (await this.client.json<{ count: number }>({ method: 'POST', path: `/${index}/_count`, body })).count;
  }

  /** Number of documents in an index, after a refresh; undefined when there is no such index. */
  async countIfThere(index: string): Promise<number | undefined> {
    return (await this.#indices(index)).length === 0 ? undefined : this.count(index, { match_all: {} });
  }

  /** Processor time all nodes have used so far, ms. */
  async cpuMs(): Promise<number> {
    const stats = await this.client.json<{ nodes: Record<string, { process?: { cpu?: { total_in_millis?: number } } }> }>({
      method: 'GET',
      path: '/_nodes/stats/process?filter_path=nodes.*.process.cpu.total_in_millis',
    });
    return Object.values(stats.nodes).reduce((sum, node) => sum + (node.process?.cpu?.total_in_millis ?? 0), 0);
  }

  /** Bytes and segments of the primaries under a pattern, after a refresh. */
  async indexFigures(index: string): Promise<{ index_bytes: number; segments: number }> {
    await this.client.send({ method: 'POST', path: `/${index}/_refresh` });
    const stats = await this.client.json<{
      _all: { primaries: { store: { size_in_bytes: number }; segments: { count: number } } };
    }>({ method: 'GET', path: `/${index}/_stats/store,segments?filter_path=_all.primaries` });
    const { store, segments } = stats._all.primaries;
    return { index_bytes: store.size_in_bytes, segments: segments.count };
  }

  /** Java heap of all nodes together. */
  async heap(): Promise<{ heap_used_bytes: number; heap_max_bytes: number }> {
    const stats = await this.client.json<{
      nodes: Record<string, { jvm: { mem: { heap_used_in_bytes: number; heap_max_in_bytes: number } } }>;
    }>({ method: 'GET', path: '/_nodes/stats/jvm?filter_path=nodes.*.jvm.mem' });
    const nodes = Object.values(stats.nodes).map((node) => node.jvm.mem);
    return {
      heap_used_bytes: nodes.reduce((sum, mem) => sum + mem.heap_used_in_bytes, 0),
      heap_max_bytes: nodes.reduce((sum, mem) => sum + mem.heap_max_in_bytes, 0),
    };
  }

  /** Waits until no merge runs: a merge that one side left behind must not slow the other. */
  async settle(): Promise<void> {
    const deadline = performance.now() + SETTLE_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const stats = await this.client.json<{ _all: { total: { merges?: { current: number } } } }>({
        method: 'GET',
        path: '/_stats/merge',
      });
      if ((stats._all.total.merges?.current ?? 0) === 0) return;
      await delay(SETTLE_POLL_MS);
    }
  }

  /** All documents that match, with their whole _source: point in time and search_after. */
  async *documents(index: string, query: unknown): AsyncIterable<readonly EngineDocument[]> {
    await this.client.json({ method: 'POST', path: `/${index}/_refresh` });
    const opened = await this.client.json<{ id: string }>({ method: 'POST', path: `/${index}/_pit?keep_alive=5m` });
    let id = opened.id;
    let after: unknown[] | undefined;
    try {
      for (;;) {
        const body = {
          size: PAGE,
          query,
          pit: { id, keep_alive: '5m' },
          sort: ['_shard_doc'],
          search_after: after,
          track_total_hits: false,
        };
        const page = await this.client.json<SearchAnswer>({ method: 'POST', path: '/_search', body: JSON.stringify(body) });
        id = page.pit_id ?? id;
        if (page.hits.hits.length === 0) return;
        yield page.hits.hits;
        after = page.hits.hits.at(-1)?.sort;
      }
    } finally {
      await this.client.send({ method: 'DELETE', path: '/_pit', body: JSON.stringify({ id }) });
    }
  }

  /** Name of the one memory index under a prefix. */
  async memoryIndex(prefix: string): Promise<string> {
    const found = await this.#indices(`${prefix}-mem-*-g*`);
    if (found.length !== 1) throw new Error(`expected one memory index under ${prefix}, found ${found.length}`);
    return String(found[0]);
  }

  /** A new, empty index with another one's settings and mapping. */
  async cloneEmpty(from: string, to: string): Promise<void> {
    const answer = await this.client.json<Record<string, { mappings: unknown; settings: { index: Record<string, unknown> } }>>({
      method: 'GET',
      path: `/${from}`,
    });
    const source = answer[from];
    if (source === undefined) throw new Error(`there is no index ${from}`);
    const made = new Set(['uuid', 'creation_date', 'provided_name', 'version', 'history']);
    const index = Object.fromEntries(Object.entries(source.settings.index).filter(([name]) => !made.has(name)));
    await this.client.json({ method: 'PUT', path: `/${to}`, body: JSON.stringify({ settings: { index }, mappings: source.mappings }) });
  }

  /** Removes the indices and templates under a prefix. */
  async drop(prefix: string): Promise<void> {
    await this.dropIndices(`${prefix}-*`);
    await this.client.send({ method: 'DELETE', path: `/_index_template/${prefix}-*` });
  }

  /** Removes the indices under a pattern. */
  async dropIndices(pattern: string): Promise<void> {
    for (const name of await this.#indices(pattern)) await this.client.send({ method: 'DELETE', path: `/${name}` });
  }

  async release(): Promise<void> {
    this.client.close();
    await this.#stop();
  }

  async #indices(pattern: string): Promise<string[]> {
    const answer = await this.client.send({ method: 'GET', path: `/${pattern}/_settings?filter_path=*.settings.index.uuid` });
    if (answer.status === 404) return [];
    return Object.keys(JSON.parse(answer.text) as Record<string, unknown>);
  }
}
