/** The product itself over REST, as a client sees it: default profile, default policies, guard on, its own embedder in its own process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { placementOf } from '../../src/elastic/placement.ts';
import { documentsOf, namespaceOf, setItems } from '../support/dataset.ts';
import { embedded } from '../support/embedded.ts';
import { sourceFingerprint } from '../support/fingerprint.ts';
import { HttpClient } from '../support/http-client.ts';
import { batchBody, sendBatch } from '../support/import.ts';
import { Latency } from '../support/latency.ts';
import { progressOf } from '../support/progress.ts';
import { BenchService } from '../support/service.ts';
import { tenantToken } from '../support/tokens.ts';
import { DEPTH, type PeerJob } from './job.ts';
import type { Peer, PeerAnswers, PeerContext } from './peer.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Writes that wait until a search finds them, beside those that are only acknowledged. */
const WAITED = 40;
const TENANT = 'peers';

/** The product as a peer among peers. */
export function ownPeer(): Peer {
  return {
    id: 'hindsight-es',
    name: 'hindsight-es',
    setting:
      'REST, default profile and policies, guard on, admission keep; speaker as subject; both local models, each question as it is routed',
    fingerprint: () => sourceFingerprint(['src', 'policies', 'mappings', 'bench/peers/own-peer.ts']),
    prepare: async () => (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version,
    run: async (job, context) => {
      const { engine, indexPrefix: prefix, folder } = context;
      const service = await BenchService.start({ engineUrl: engine.url, prefix, folder });
      const token = await tenantToken(service.dataDir, TENANT);
      const client = new HttpClient(service.url, { authorization: `Bearer ${token}` });
      try {
        return await measure(job, context, client);
      } finally {
        client.close();
        await service.stop();
      }
    },
  };
}

async function measure(job: PeerJob, { engine, indexPrefix }: PeerContext, client: HttpClient): Promise<PeerAnswers> {
  const items = setItems(job.corpus);
  const documents = new Map<string, string>();
  const writeMs: number[] = [];
  let refused = 0;
  const wrote = progressOf(`hindsight-es, ${job.set}: writes`, items.length);
  for (const { item, documentId } of items) {
    const body = batchBody([item]);
    const from = performance.now();
    const [id = ''] = await sendBatch(client, body, {}, () => (refused += 1));
    writeMs.push(performance.now() - from);
    documents.set(id, documentId);
    wrote(writeMs.length);
  }
  const index = placementOf(indexPrefix, TENANT).generation(1);
  await embedded(engine, index, job.set);

  const warmUp = { query: job.warmUp, namespaces: [namespaceOf(job.corpus[0] ?? { namespace: '' })] };
  await client.json({ method: 'POST', path: '/v1/memories/search', body: JSON.stringify(warmUp) });
  const searchMs: number[] = [];
  const ranked: string[][] = [];
  const before = await engineTimes(index, engine.client);
  const asked = progressOf(`hindsight-es, ${job.set}: searches`, job.queries.length);
  for (const query of job.queries) {
    const request = { query: query.query, namespaces: [namespaceOf(query)], asked_at: query.asked_at, top_k: DEPTH };
    const call = { method: 'POST', path: '/v1/memories/search', body: JSON.stringify(request) };
    const from = performance.now();
    const answer = await client.json<{ hits: { memory_id: string }[]; degraded: string[] }>(call);
    searchMs.push(performance.now() - from);
    if (answer.degraded.length > 0) throw new Error(`a search was degraded: ${answer.degraded.join(', ')}`);
    const ids = answer.hits.map((hit) => hit.memory_id);
    ranked.push(documentsOf(ids, documents));
    asked(ranked.length);
  }
  const after = await engineTimes(index, engine.client);
  const waited = await waitedWrites(items.slice(0, WAITED), client);
  const extra = {
    search_engine_mean_ms: (after.ms - before.ms) / job.queries.length,
    write_searchable_p50_ms: waited.percentile(50),
    write_searchable_p95_ms: waited.percentile(95),
  };
  return { refused, writeMs, searchMs, ranked, extra };
}

/** Into a namespace of their own, after the questions: `wait` answers when a search would find the memory. */
async function waitedWrites(items: readonly { readonly item: Readonly<Record<string, unknown>> }[], client: HttpClient): Promise<Latency> {
  const latency = new Latency();
  for (const { item } of items) {
    const body = JSON.stringify({ items: [{ ...item, namespace: 'bench.waited', session_id: undefined, turn: undefined }], wait: true });
    await latency.time(() => client.json({ method: 'POST', path: '/v1/memories', body }));
  }
  return latency;
}

/** Time Elasticsearch spent in searches of the index so far, ms: whole milliseconds, so only sums over many tell something. */
async function engineTimes(index: string, engine: HttpClient): Promise<{ ms: number }> {
  const stats = await engine.json<{ _all: { total: { search: { query_time_in_millis: number; fetch_time_in_millis: number } } } }>({
    method: 'GET',
    path: `/${index}/_stats/search`,
  });
  const { query_time_in_millis, fetch_time_in_millis } = stats._all.total.search;
  return { ms: query_time_in_millis + fetch_time_in_millis };
}
