/** The embed queue: records whose vectors are due, found in the memory indices themselves and taken by leases; jobs/embed works it off. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { MemoryRecord, SeqNo } from '../domain/memory.ts';
import type { DeadReason, EmbedQueue, EmbedTask } from '../domain/ports.ts';
import { bulk, itemAway, type BulkItem } from '../elastic/bulk.ts';
import { isMissingIndex, mapStoreError, RETRY } from '../elastic/client.ts';
import { placementOf, tenantPattern } from '../elastic/placement.ts';
import { tenantBuckets } from './tenant-buckets.ts';

export interface EmbedQueueOptions {
  readonly client: Client;
  readonly prefix: string;
  readonly clock: Clock;
  /** Names of the spaces that this process can fill. */
  readonly spaces: () => readonly string[];
}

/** After this many failed tries a record is a dead letter: counted, and tried once a day only. */
export const EMBED_TRIES_MAX = 5;
/**
 * Rest of a dead letter until it is tried again. A day: long enough that texts which can never be embedded cost nothing to speak of, short
 * enough that those caught by an outage or mended by a new release of the endpoint need nobody's hand.
 */
export const DEAD_REST_MS = 86_400_000;
/** lease_by of a record that reembedding made due: it waits until everything written lately is done. */
export const REEMBED_MARK = 'reembed';
/** A record that the store lets nobody change is not asked for again this long: it would take a place in every batch. */
const REFUSED_REST_MS = 600_000;
const REFUSED_KEPT = 1_000;

type Clause = estypes.QueryDslQueryContainer;

const DEAD: Clause = { range: { embed_tries: { gte: EMBED_TRIES_MAX } } };
const REASONS: Readonly<Record<string, DeadReason>> = {
  ERR_EMBEDDING_REJECTED: 'rejected',
  ERR_EMBEDDING_UNAVAILABLE: 'unavailable',
  ERR_STORE_REJECTED: 'store',
  ERR_STORE_UNAVAILABLE: 'store',
};

/**
 * EmbedQueue over all tenants' memory indices. What is due shows after a refresh (10 s at most; a nudge makes one); a lease is a compare-and-set on the
 * record, so two workers never hold the same one, however stale the search that found it. Errors: ERR_STORE_*.
 */
export function createEmbedQueue({ client, prefix, clock, spaces }: EmbedQueueOptions): EmbedQueue {
  const everyTenant = { index: tenantPattern(prefix, 'memory'), allow_no_indices: true, allow_partial_search_results: false } as const;
  /** Ids that no lease could be written on, with the time until which they are left out. */
  const refused = new Map<string, number>();

  const refuse = (id: string): void => {
    refused.delete(id);
    refused.set(id, clock() + REFUSED_REST_MS);
    const [oldest] = refused.size > REFUSED_KEPT ? refused.keys() : [];
    if (oldest !== undefined) refused.delete(oldest);
  };

  const leftOut = (): readonly Clause[] => {
    for (const [id, untilMs] of refused) if (untilMs <= clock()) refused.delete(id);
    return refused.size === 0 ? [] : [{ ids: { values: [...refused.keys()] } }];
  };

  const lease = (tenant: string, held: readonly (SeqNo & { readonly id: string })[], doc: object): Promise<BulkItem[]> => {
    const line = `${JSON.stringify({ doc })}\n`;
    const operations = held.map(({ id, seq_no, primary_term }) => {
      const update = { _id: id, if_seq_no: seq_no, if_primary_term: primary_term };
      return `${JSON.stringify({ update })}\n${line}`;
    });
    return bulk(client, placementOf(prefix, tenant).memory, operations, { requireAlias: true });
  };

  return {
    async dueTenants() {
      return (await tenantBuckets(client, prefix, claimable(spaces(), clock(), leftOut()))).map(({ tenant, count }) => ({ tenant, count }));
    },

    async claim(tenant, { limit, leaseMs, by }) {
      const now = clock();
      const query = claimable(spaces(), now, leftOut());
      const found = (await search(client, placementOf(prefix, tenant).memory, tenant, query, limit)).flatMap(positioned);
      if (found.length === 0) return [];
      const held = { lease_until: isoTime(now + leaseMs), lease_by: by };
      const items = await lease(tenant, found, held);
      const tasks: EmbedTask[] = [];
      for (const [i, { id, source }] of found.entries()) {
        const item = items[i];
        const at = positionOf(item);
        // conflict: another worker took it, or the record moved on; it stays due and is found again
        if (at !== undefined) tasks.push({ tenant, record: { record: { ...source, ...held }, at } });
        else if (item !== undefined && ![404, 409].includes(item.status) && !itemAway(item)) refuse(id);
      }
      return tasks;
    },

    async renew(tenant, held, leaseMs) {
      const positions = held.map(({ record, at }) => ({ id: record.memory_id, ...at }));
      const items = await lease(tenant, positions, { lease_until: isoTime(clock() + leaseMs) });
      return new Map(
        positions.flatMap(({ id }, i): [string, SeqNo][] => {
          const at = positionOf(items[i]);
          return at === undefined ? [] : [[id, at]];
        }),
      );
    },

    async depth() {
      const here: Clause = { terms: { spaces_due: [...spaces()] } };
      const answer = await client
        .search<never, DepthAnswer>(
          {
            ...everyTenant,
            size: 0,
            track_total_hits: false,
            query: { exists: { field: 'spaces_due' } },
            aggs: {
              due: { filter: { bool: { filter: [here], must_not: [DEAD] } } },
              dead: { filter: { bool: { filter: [here, DEAD] } }, aggs: { by: { terms: { field: 'embed_error', size: 50 } } } },
              foreign: { filter: { bool: { must_not: [here] } } },
            },
          },
          RETRY,
        )
        .catch(rethrow);
      const { due, dead, foreign } = answer.aggregations ?? {};
      const deadBy = { rejected: 0, unavailable: 0, store: 0, other: dead?.doc_count ?? 0 };
      for (const { key, doc_count } of dead?.by.buckets ?? []) {
        deadBy.other -= doc_count;
        deadBy[REASONS[key] ?? 'other'] += doc_count;
      }
      return { due: due?.doc_count ?? 0, dead: dead?.doc_count ?? 0, deadBy, foreign: foreign?.doc_count ?? 0 };
    },
  };
}

interface DepthAnswer {
  readonly due: { readonly doc_count: number };
  readonly dead: { readonly doc_count: number; readonly by: { readonly buckets: readonly { key: string; doc_count: number }[] } };
  readonly foreign: { readonly doc_count: number };
}

/** Due in one of these spaces, under no running lease, and no dead letter at rest: the end of its last lease tells when it was tried. */
function claimable(spaces: readonly string[], now: number, leftOut: readonly Clause[]): Clause {
  const resting: Clause = { bool: { filter: [DEAD, { range: { lease_until: { gt: isoTime(now - DEAD_REST_MS) } } }] } };
  return {
    bool: {
      filter: [{ terms: { spaces_due: [...spaces] } }],
      must_not: [resting, { range: { lease_until: { gt: isoTime(now) } } }, ...leftOut],
    },
  };
}

/**
 * What was written lately first, then what reembedding made due and dead letters whose day has come; the oldest first in each. With
 * positions and whole records: the job writes them back with their vectors.
 */
async function search(
  client: Client,
  index: string,
  tenant: string,
  claimableNow: Clause,
  limit: number,
): Promise<estypes.SearchHit<MemoryRecord>[]> {
  const fresh: Clause = { bool: { must_not: [{ term: { lease_by: REEMBED_MARK } }, DEAD] } };
  try {
    const answer = await client.search<MemoryRecord>(
      {
        index,
        allow_partial_search_results: false,
        size: limit,
        track_total_hits: false,
        seq_no_primary_term: true,
        query: { bool: { filter: [{ term: { tenant } }, claimableNow], should: [{ constant_score: { filter: fresh } }] } },
        sort: [{ _score: { order: 'desc' } }, { created_at: { order: 'asc' } }],
      },
      RETRY,
    );
    return answer.hits.hits;
  } catch (error) {
    if (isMissingIndex(error)) return [];
    throw mapStoreError(error);
  }
}

function positioned(hit: estypes.SearchHit<MemoryRecord>): (SeqNo & { readonly id: string; readonly source: MemoryRecord })[] {
  const { _id, _seq_no, _primary_term, _source } = hit;
  if (_id === undefined || _seq_no === undefined || _primary_term === undefined || _source === undefined) return [];
  return [{ id: _id, seq_no: _seq_no, primary_term: _primary_term, source: _source }];
}

function positionOf(item: BulkItem | undefined): SeqNo | undefined {
  if (item?.status !== 200 || item.seqNo === undefined || item.primaryTerm === undefined) return undefined;
  return { seq_no: item.seqNo, primary_term: item.primaryTerm };
}

function rethrow(error: unknown): never {
  throw mapStoreError(error);
}
