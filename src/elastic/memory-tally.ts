/** Counts of what a principal may read, by namespace, and how far the vectors are: one aggregation, no record leaves the index. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { MemoryIndex, Tally } from '../domain/ports.ts';
import { openScoped } from '../domain/sealed.ts';
import { EMBED_TRIES_MAX } from '../stores/embed-queue.ts';
import { RETRY } from './client.ts';
import { boundQuery, ifIndexExists } from './memory-reads.ts';
import { placementOf } from './placement.ts';

const NAMESPACES_MAX = 1_000;
const NOTHING: Tally = { total: 0, namespaces: [], due: 0, dead: 0 };

interface Found {
  readonly namespaces: estypes.AggregationsStringTermsAggregate;
  readonly due: estypes.AggregationsFilterAggregate;
  readonly dead: estypes.AggregationsFilterAggregate;
}

export function createMemoryTally(client: Client, prefix: string): Pick<MemoryIndex, 'tally'> {
  return {
    async tally(box) {
      const { filter } = openScoped(box);
      const due = { exists: { field: 'spaces_due' } };
      const dead = { range: { embed_tries: { gte: EMBED_TRIES_MAX } } };
      const answer = await ifIndexExists(() =>
        client.search<never, { [K in keyof Found]: Found[K] }>(
          {
            index: placementOf(prefix, box.scope.tenant).memory,
            query: boundQuery(box.scope, filter),
            size: 0,
            track_total_hits: true,
            allow_partial_search_results: false,
            aggs: {
              namespaces: { terms: { field: 'namespace', size: NAMESPACES_MAX } },
              due: { filter: { bool: { filter: [due], must_not: [dead] } } },
              dead: { filter: { bool: { filter: [due, dead] } } },
            },
          },
          RETRY,
        ),
      );
      const found = answer?.aggregations;
      if (answer === undefined || found === undefined) return NOTHING;
      const buckets = found.namespaces.buckets as estypes.AggregationsStringTermsBucket[];
      const { total } = answer.hits;
      return {
        total: typeof total === 'number' ? total : (total?.value ?? 0),
        namespaces: buckets.map((bucket) => ({ namespace: String(bucket.key), count: bucket.doc_count })),
        due: found.due.doc_count,
        dead: found.dead.doc_count,
      };
    },
  };
}
