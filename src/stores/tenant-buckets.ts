/** The one question that goes over all tenants: whose indices hold documents that fit, and how many; for the jobs' queues. */
import type { estypes } from '@elastic/elasticsearch';
import { RETRY, storeCall, type StoreClient } from '../elastic/client.ts';
import { tenantPattern } from '../elastic/placement.ts';

/**
 * Tenants of one page. Each page goes over all that fits once more, so that few large ones are quicker; the engine refuses more than
 * 65,536 buckets (search.max_buckets).
 */
const PAGE = 1_000;

export interface TenantBucket {
  readonly tenant: string;
  readonly count: number;
  /** When the newest of these records was changed (ms since the epoch). */
  readonly latestMs: number;
}

interface Answer {
  readonly tenants: {
    readonly buckets: readonly {
      readonly key: { readonly tenant: string };
      readonly doc_count: number;
      readonly latest: { readonly value: number | null };
    }[];
    readonly after_key?: { readonly tenant: string };
  };
}

/**
 * Every tenant with records that fit, most of them first. A terms aggregation names its first thousand only; a composite one is read page
 * by page (Elasticsearch Guide 8.19, "Composite aggregation"). Errors: ERR_STORE_*.
 */
export async function tenantBuckets(
  client: StoreClient,
  prefix: string,
  query: estypes.QueryDslQueryContainer,
  kind: 'memory' | 'slots' = 'memory',
): Promise<readonly TenantBucket[]> {
  const found: TenantBucket[] = [];
  let after: { tenant: string } | undefined;
  do {
    const composite = { size: PAGE, sources: [{ tenant: { terms: { field: 'tenant' } } }], ...(after === undefined ? {} : { after }) };
    const answer = await storeCall(() =>
      client.search<never, Answer>(
        {
          index: tenantPattern(prefix, kind),
          allow_no_indices: true,
          // a move that is found a look later harms nobody: one tenant's index that is away hides none of the others
          allow_partial_search_results: kind === 'slots',
          size: 0,
          track_total_hits: false,
          query,
          aggs: { tenants: { composite, aggs: { latest: { max: { field: 'updated_at' } } } } },
        },
        RETRY,
      ),
    );
    // absent where no index stands yet
    const { buckets = [], after_key: next } = answer.aggregations?.tenants ?? {};
    for (const { key, doc_count: count, latest } of buckets) found.push({ tenant: key.tenant, count, latestMs: latest.value ?? 0 });
    after = buckets.length < PAGE ? undefined : next;
  } while (after !== undefined);
  return found.sort((a, b) => b.count - a.count);
}
