/** Turns cut loose from the one before them that nobody linked again: a crash left them so; jobs/turn-repair ends it. */
import type { estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { DetachedTurn, DetachedTurns } from '../domain/ports.ts';
import { DETACHED } from '../domain/turns.ts';
import { storeCall, RETRY, type StoreClient } from '../elastic/client.ts';
import { tenantPattern } from '../elastic/placement.ts';

export interface DetachedTurnsOptions {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly clock: Clock;
}

/** DetachedTurns over all tenants' memory indices, by searches that change nothing. Errors: ERR_STORE_*. */
export function createDetachedTurns({ client, prefix, clock }: DetachedTurnsOptions): DetachedTurns {
  return {
    async left(limit) {
      const query: estypes.QueryDslQueryContainer = {
        bool: {
          filter: [{ term: { prev_turn_id: DETACHED } }],
          // Whoever detached it a moment ago is about to end that.
          must_not: [{ range: { lease_until: { gt: isoTime(clock()) } } }],
        },
      };
      const answer = await storeCall(() =>
        client.search<DetachedTurn>(
          {
            index: tenantPattern(prefix, 'memory'),
            allow_no_indices: true,
            allow_partial_search_results: false,
            size: limit,
            track_total_hits: false,
            query,
            _source: ['memory_id', 'tenant', 'namespace', 'owner'],
          },
          RETRY,
        ),
      );
      return answer.hits.hits.flatMap((hit) => hit._source ?? []);
    },
  };
}
