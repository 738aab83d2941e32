/** What reembedding looks through: searchable records without a vector in a space of this process; jobs/reembed decides and marks them due. */
import type { estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import { SEARCHABLE_STATUSES } from '../domain/memory.ts';
import type { ReembedCandidate, ReembedQueue } from '../domain/ports.ts';
import { isMissingIndex, mapStoreError, RETRY } from '../elastic/client.ts';
import { placementOf } from '../elastic/placement.ts';
import type { EmbedQueueOptions } from './embed-queue.ts';
import { tenantBuckets } from './tenant-buckets.ts';

type Clause = estypes.QueryDslQueryContainer;
type Source = ReembedCandidate['record'];

/** Only what the decision needs: a record's vectors are most of its size. */
const FIELDS: readonly (keyof Source)[] = [
  'memory_id',
  'title',
  'content',
  'updated_at',
  'spaces_ready',
  'spaces_due',
  'embed_tries',
  'lease_until',
];

/**
 * ReembedQueue over all tenants' memory indices, by searches that change nothing. The engine cannot tell which spaces fit a text, so a
 * candidate may be right as it is (a Chinese text has no en vector). Errors: ERR_STORE_*.
 */
export function createReembedQueue({ client, prefix, clock, spaces }: EmbedQueueOptions): ReembedQueue {
  return {
    async tenants() {
      return (await tenantBuckets(client, prefix, wanting(spaces(), clock))).map(({ tenant, count }) => ({ tenant, count }));
    },

    async page(tenant, { after, limit }) {
      try {
        const answer = await client.search<Source>(
          {
            index: placementOf(prefix, tenant).memory,
            allow_partial_search_results: false,
            size: limit,
            track_total_hits: false,
            seq_no_primary_term: true,
            _source: [...FIELDS],
            query: { bool: { filter: [{ term: { tenant } }, wanting(spaces(), clock)] } },
            sort: [{ memory_id: 'asc' }],
            ...(after === undefined ? {} : { search_after: [after] }),
          },
          RETRY,
        );
        const { hits } = answer.hits;
        return { candidates: hits.flatMap(candidateOf), next: hits.length < limit ? undefined : hits.at(-1)?._id };
      } catch (error) {
        if (isMissingIndex(error)) return { candidates: [], next: undefined };
        throw mapStoreError(error);
      }
    },
  };
}

/** Searchable, not expired, and either without one of these spaces, ready or due, or due in others alone. */
function wanting(spaces: readonly string[], clock: Clock): Clause {
  const lacks = spaces.map((space): Clause => ({
    bool: { must_not: [{ term: { spaces_ready: space } }, { term: { spaces_due: space } }] },
  }));
  const foreign: Clause = { bool: { filter: [{ exists: { field: 'spaces_due' } }], must_not: [{ terms: { spaces_due: [...spaces] } }] } };
  return {
    bool: {
      filter: [{ terms: { status: [...SEARCHABLE_STATUSES] } }, { bool: { should: [...lacks, foreign], minimum_should_match: 1 } }],
      must_not: [{ range: { expires_at: { lte: isoTime(clock()) } } }],
    },
  };
}

function candidateOf(hit: estypes.SearchHit<Source>): ReembedCandidate[] {
  const { _seq_no, _primary_term, _source } = hit;
  if (_seq_no === undefined || _primary_term === undefined || _source === undefined) return [];
  return [{ record: _source, at: { seq_no: _seq_no, primary_term: _primary_term } }];
}
