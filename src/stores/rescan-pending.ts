/** Writes that nobody decided on in time; jobs/pending-sweep ends them. */
import type { ExpiredPending, RecordRef } from '../domain/ports.ts';
import { RETRY, storeCall, type StoreClient } from '../elastic/client.ts';
import { tenantPattern } from '../elastic/placement.ts';

/** ExpiredPending over all tenants' memory indices, by searches that change nothing. Errors: ERR_STORE_*. */
export function createExpiredPending({ client, prefix }: { readonly client: StoreClient; readonly prefix: string }): ExpiredPending {
  return {
    async createdUntil(until, limit) {
      const answer = await storeCall(() =>
        client.search<RecordRef>(
          {
            index: tenantPattern(prefix, 'memory'),
            allow_no_indices: true,
            allow_partial_search_results: false,
            size: limit,
            track_total_hits: false,
            query: { bool: { filter: [{ term: { status: 'pending' } }, { range: { created_at: { lte: until } } }] } },
            _source: ['memory_id', 'tenant', 'namespace', 'owner'],
            // the longest overdue first, so that one that cannot be changed never hides those that can
            sort: [{ created_at: 'asc' }, { memory_id: 'asc' }],
          },
          RETRY,
        ),
      );
      return answer.hits.hits.flatMap((hit) => hit._source ?? []);
    },
  };
}
