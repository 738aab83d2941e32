/** What the rescan looks through: searchable records that another policy revision judged, and random draws of all; jobs/rescan and jobs/rescan-sample judge them. */
import type { estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import { SEARCHABLE_STATUSES } from '../domain/memory.ts';
import type { RecordRef, RescanQueue } from '../domain/ports.ts';
import { isMissingIndex, mapStoreError, RETRY, type StoreClient } from '../elastic/client.ts';
import { placementOf } from '../elastic/placement.ts';
import { tenantBuckets } from './tenant-buckets.ts';

export interface RescanQueueOptions {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly clock: Clock;
}

/** Only what a record is loaded by: its text comes through the guard. */
const REF: readonly (keyof RecordRef)[] = ['memory_id', 'tenant', 'namespace', 'owner'];

type Clause = estypes.QueryDslQueryContainer;

/** RescanQueue over all tenants' memory indices. Errors: ERR_STORE_*. */
export function createRescanQueue({ client, prefix, clock }: RescanQueueOptions): RescanQueue {
  const searchable = (): Clause => ({
    bool: {
      filter: [{ terms: { status: [...SEARCHABLE_STATUSES] } }],
      must_not: [{ range: { expires_at: { lte: isoTime(clock()) } } }],
    },
  });

  const refsOf = async (tenant: string, request: Omit<estypes.SearchRequest, 'index'>): Promise<readonly RecordRef[]> => {
    try {
      const { hits } = await client.search<RecordRef>(
        {
          ...request,
          index: placementOf(prefix, tenant).memory,
          allow_partial_search_results: false,
          track_total_hits: false,
          _source: [...REF],
        },
        RETRY,
      );
      return hits.hits.flatMap((hit) => hit._source ?? []);
    } catch (error) {
      if (isMissingIndex(error)) return [];
      throw mapStoreError(error);
    }
  };

  return {
    async judgedBefore(revision) {
      const buckets = await tenantBuckets(client, prefix, { bool: { filter: [searchable()], must_not: [judgedBy(revision)] } });
      return buckets.map(({ tenant, count, latestMs }) => ({ tenant, count, latest: isoTime(latestMs) }));
    },

    async refsJudgedBefore(tenant, { revision, since, after, limit }) {
      const newer: Clause[] = since === undefined ? [] : [{ range: { updated_at: { gt: since } } }];
      const refs = await refsOf(tenant, {
        size: limit,
        query: { bool: { filter: [{ term: { tenant } }, searchable(), ...newer], must_not: [judgedBy(revision)] } },
        sort: [{ memory_id: 'asc' }],
        ...(after === undefined ? {} : { search_after: [after] }),
      });
      return { refs, next: refs.length < limit ? undefined : refs.at(-1)?.memory_id };
    },

    withRecords: async () => (await tenantBuckets(client, prefix, searchable())).map(({ tenant }) => tenant),

    drawn: (tenant, { size, seed }) =>
      refsOf(tenant, {
        size,
        query: {
          function_score: {
            query: { bool: { filter: [{ term: { tenant } }, searchable()] } },
            // by _seq_no, which every record has and no caller chooses
            functions: [{ random_score: { seed, field: '_seq_no' } }],
            boost_mode: 'replace',
          },
        },
      }),
  };
}

function judgedBy(revision: string): Clause {
  return { term: { 'guard.policy_revision': revision } };
}
