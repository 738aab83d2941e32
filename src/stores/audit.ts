/** The audit log in Elasticsearch: created documents in one global index, read back by tenant, or in one snapshot for the check of the chains. */
import type { estypes } from '@elastic/elasticsearch';
import type { AuditFilter, AuditHead, AuditPosition, AuditRecord, AuditSnapshot, AuditStore, StoredAuditRecord } from '../domain/audit.ts';
import { bulk, itemAway } from '../elastic/bulk.ts';
import { RETRY, storeCall, type StoreClient } from '../elastic/client.ts';
import { globalIndex } from '../elastic/placement.ts';
import { HindsightError } from '../errors.ts';
import { recordId } from '../telemetry/audit/record.ts';

const PIT_KEEP_ALIVE = '2m';
const SNAPSHOT_PAGE = 1_000;
/** A record that was there before is the one a lost answer told of: ids are made from the chain's random name and the place in it. */
const STORED: readonly number[] = [200, 201, 409];
const ANCHOR_TYPES = ['start', 'anchor', 'stop'];

export interface AuditStoreParts {
  readonly client: StoreClient;
  readonly prefix: string;
}

export function createAuditStore({ client, prefix }: AuditStoreParts): AuditStore {
  const index = globalIndex(prefix, 'audit');

  return {
    async append(lines) {
      const operations = lines.map(({ chain, seq, line }) => `${JSON.stringify({ create: { _id: recordId(chain, seq) } })}\n${line}\n`);
      const items = await bulk(client, index, operations, { repeatable: true });
      const failed = items.find(({ status }) => !STORED.includes(status));
      if (failed === undefined) return;
      throw new HindsightError(itemAway(failed) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', {
        cause: new Error(`an audit record was not stored: ${failed.status} ${failed.errorType ?? 'without a type'}`),
      });
    },

    async page(tenant, filter, { limit, after }) {
      // whoever asks about a call that was just answered finds it
      if (after === undefined) await storeCall(() => client.indices.refresh({ index }, RETRY));
      const answer = await storeCall(() =>
        client.search<AuditRecord>(
          {
            index,
            size: limit + 1, // one more tells whether there is a next page
            track_total_hits: false,
            allow_partial_search_results: false,
            query: { bool: { filter: [{ term: { tenant } }, ...conditionsOf(filter)] } },
            sort: [{ at: 'desc' }, { chain: 'desc' }, { seq: 'desc' }],
            ...(after === undefined ? {} : { search_after: [...after] }),
          },
          RETRY,
        ),
      );
      const hits = answer.hits.hits;
      const page = hits.slice(0, limit);
      const last = page.at(-1)?.sort;
      const next: AuditPosition | undefined =
        hits.length > limit && last !== undefined ? [Number(last[0]), String(last[1]), Number(last[2])] : undefined;
      return { records: page.flatMap(({ _source }) => _source ?? []), next };
    },

    async lastAnchor() {
      await storeCall(() => client.indices.refresh({ index }, RETRY));
      const answer = await storeCall(() =>
        client.search<AuditHead>(
          {
            index,
            size: 1,
            track_total_hits: false,
            allow_partial_search_results: false,
            query: { bool: { filter: [{ terms: { record_type: ANCHOR_TYPES } }] } },
            sort: [{ at: 'desc' }, { seq: 'desc' }],
            _source: ['chain', 'seq', 'hash'],
          },
          RETRY,
        ),
      );
      return answer.hits.hits[0]?._source;
    },

    async snapshot() {
      await storeCall(() => client.indices.refresh({ index }, RETRY));
      const { id } = await storeCall(() => client.openPointInTime({ index, keep_alive: PIT_KEEP_ALIVE }, RETRY));
      return snapshotOf(client, index, id);
    },
  };
}

function snapshotOf(client: StoreClient, index: string, opened: string): AuditSnapshot {
  let pit = opened;

  async function* records(tenant: string | undefined): AsyncGenerator<StoredAuditRecord> {
    let after: estypes.SortResults | undefined;
    for (;;) {
      const answer: estypes.SearchResponse<AuditRecord> = await storeCall(() =>
        client.search<AuditRecord>(
          {
            pit: { id: pit, keep_alive: PIT_KEEP_ALIVE },
            size: SNAPSHOT_PAGE,
            track_total_hits: false,
            allow_partial_search_results: false,
            query: tenant === undefined ? { match_all: {} } : { bool: { filter: [{ term: { tenant } }] } },
            sort: [{ chain: 'asc' }, { seq: 'asc' }, { _shard_doc: 'asc' }],
            ...(after === undefined ? {} : { search_after: after }),
          },
          RETRY,
        ),
      );
      pit = answer.pit_id ?? pit;
      const { hits } = answer.hits;
      for (const { _id, _source } of hits) if (_id !== undefined && _source !== undefined) yield { id: _id, record: _source };
      after = hits.at(-1)?.sort;
      if (hits.length < SNAPSHOT_PAGE || after === undefined) return;
    }
  }

  return {
    records,
    // records are never changed, so that reading them outside the point in time is the same
    async hashes(ids) {
      const answer = await storeCall(() => client.mget<AuditRecord>({ index, ids: [...ids], _source: ['hash'] }, RETRY));
      const found = new Map<string, string>();
      for (const doc of answer.docs) if ('found' in doc && doc.found && doc._source !== undefined) found.set(doc._id, doc._source.hash);
      return found;
    },
    async close() {
      await client.closePointInTime({ id: pit }).catch(() => undefined); // it ends by itself
    },
  };
}

function conditionsOf(filter: AuditFilter): estypes.QueryDslQueryContainer[] {
  const { from, to, memory_id: memoryId, operation, actor, owner, trace_id: traceId, verdict, outcome } = filter;
  const exact = { operation, actor, owner, memory_ids: memoryId, trace_id: traceId, verdict, outcome };
  const range = { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) };
  return [
    ...Object.entries(exact).flatMap(([field, value]) => (value === undefined ? [] : [{ term: { [field]: value } }])),
    ...(from === undefined && to === undefined ? [] : [{ range: { at: range } }]),
  ];
}
