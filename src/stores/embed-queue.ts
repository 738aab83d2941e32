/** The embed queue: records whose vectors are due, found in the memory indices themselves and taken by leases; jobs/embed works it off. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { EmbedQueue, EmbedTask } from '../domain/ports.ts';
import { bulk } from '../elastic/bulk.ts';
import { isMissingIndex, mapStoreError, RETRY } from '../elastic/client.ts';
import { placementOf, tenantPattern } from '../elastic/placement.ts';

export interface EmbedQueueOptions {
  readonly client: Client;
  readonly prefix: string;
  readonly clock: Clock;
}

/** After this many failed tries a record is a dead letter: listed, counted, no longer tried. */
export const EMBED_TRIES_MAX = 5;
const TENANTS_AT_ONCE = 1_000;

type Clause = estypes.QueryDslQueryContainer;

const DUE: Clause = { exists: { field: 'spaces_due' } };
const DEAD: Clause = { range: { embed_tries: { gte: EMBED_TRIES_MAX } } };

/**
 * EmbedQueue over all tenants' memory indices. What is due shows after a refresh (1 s at most); a lease is a compare-and-set on the
 * record, so two workers never hold the same one, however stale the search that found it. Errors: ERR_STORE_*.
 */
export function createEmbedQueue({ client, prefix, clock }: EmbedQueueOptions): EmbedQueue {
  const everyTenant = tenantPattern(prefix, 'memory');

  return {
    async dueTenants() {
      const answer = await client
        .search<never, { tenants: estypes.AggregationsStringTermsAggregate }>(
          {
            index: everyTenant,
            allow_no_indices: true,
            allow_partial_search_results: false,
            size: 0,
            track_total_hits: false,
            query: claimable(clock()),
            aggs: { tenants: { terms: { field: 'tenant', size: TENANTS_AT_ONCE } } },
          },
          RETRY,
        )
        .catch(rethrow);
      const buckets = answer.aggregations?.tenants.buckets ?? [];
      return (buckets as estypes.AggregationsStringTermsBucket[]).map((bucket) => ({
        tenant: String(bucket.key),
        count: bucket.doc_count,
      }));
    },

    async claim(tenant, { limit, leaseMs, by }) {
      const index = placementOf(prefix, tenant).memory;
      const now = clock();
      const found = await search(client, index, tenant, now, limit);
      if (found.length === 0) return [];
      const lease = { lease_until: isoTime(now + leaseMs), lease_by: by };
      const doc = `${JSON.stringify({ doc: lease })}\n`;
      const items = await bulk(
        client,
        index,
        found.map((hit) => `${updateLine(hit)}${doc}`),
        { requireAlias: true },
      );
      const tasks: EmbedTask[] = [];
      for (const [i, hit] of found.entries()) {
        const item = items[i];
        // conflict: another worker took it, or the record moved on; it stays due and is found again
        if (item?.status !== 200 || item.seqNo === undefined || item.primaryTerm === undefined || hit._source === undefined) continue;
        const record = { ...hit._source, ...lease };
        tasks.push({ tenant, record: { record, at: { seq_no: item.seqNo, primary_term: item.primaryTerm } } });
      }
      return tasks;
    },

    async depth() {
      const answer = await client
        .search<never, { dead: estypes.AggregationsFilterAggregate; due: estypes.AggregationsFilterAggregate }>(
          {
            index: everyTenant,
            allow_no_indices: true,
            allow_partial_search_results: false,
            size: 0,
            track_total_hits: false,
            query: DUE,
            aggs: { dead: { filter: DEAD }, due: { filter: { bool: { must_not: [DEAD] } } } },
          },
          RETRY,
        )
        .catch(rethrow);
      return { due: answer.aggregations?.due.doc_count ?? 0, dead: answer.aggregations?.dead.doc_count ?? 0 };
    },
  };
}

/** Due, not dead, and under no running lease. */
function claimable(now: number): Clause {
  return { bool: { filter: [DUE], must_not: [DEAD, { range: { lease_until: { gt: isoTime(now) } } }] } };
}

/** Oldest first, with positions and whole records: the job writes them back with their vectors. */
async function search(
  client: Client,
  index: string,
  tenant: string,
  now: number,
  limit: number,
): Promise<estypes.SearchHit<MemoryRecord>[]> {
  try {
    const answer = await client.search<MemoryRecord>(
      {
        index,
        allow_partial_search_results: false,
        size: limit,
        track_total_hits: false,
        seq_no_primary_term: true,
        query: { bool: { filter: [{ term: { tenant } }, claimable(now)] } },
        sort: [{ created_at: 'asc' }],
      },
      RETRY,
    );
    return answer.hits.hits;
  } catch (error) {
    if (isMissingIndex(error)) return [];
    throw mapStoreError(error);
  }
}

function updateLine(hit: estypes.SearchHit<MemoryRecord>): string {
  const { _id, _seq_no, _primary_term } = hit;
  return `${JSON.stringify({ update: { _id, if_seq_no: _seq_no, if_primary_term: _primary_term } })}\n`;
}

function rethrow(error: unknown): never {
  throw mapStoreError(error);
}
