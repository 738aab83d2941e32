/** Several small searches of one kind in few requests, answered in order: what the write and the embed job compare records with. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { MemoryRecord } from '../domain/memory.ts';
import { unscreened, type Unscreened } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { ANSWER, isAway, storeCall } from './client.ts';

const WITHOUT_VECTORS = { excludes: ['vec_*', 'passages'] };
/** Searches of one request: a batch of 500 memories in a single one ran into the five seconds that a read may take, on a busy machine. */
const SEARCHES_AT_ONCE = 32;

/** One search, of one tenant's index. */
export interface OneSearch {
  readonly index: string;
  readonly body: Pick<estypes.MsearchMultisearchBody, 'query' | 'knn' | 'size'>;
}

/**
 * Records without vectors, for each search in order. An index that is not there yet holds nothing. `away`: what to answer for a search whose
 * shard is away; without it that is ERR_STORE_UNAVAILABLE. ERR_STORE_REJECTED when Elasticsearch refuses one.
 */
export async function multiSearch(
  client: Client,
  searches: readonly OneSearch[],
  away?: readonly MemoryRecord[],
): Promise<readonly Unscreened<readonly MemoryRecord[]>[]> {
  const found: Unscreened<readonly MemoryRecord[]>[] = [];
  for (let from = 0; from < searches.length; from += SEARCHES_AT_ONCE) {
    const lines = searches.slice(from, from + SEARCHES_AT_ONCE).flatMap(({ index, body }): estypes.MsearchRequestItem[] => [
      { index, ignore_unavailable: true, allow_no_indices: true },
      { ...body, track_total_hits: false, _source: WITHOUT_VECTORS },
    ]);
    const answer = await storeCall(() => client.msearch<MemoryRecord>({ searches: lines, max_concurrent_searches: 4 }, ANSWER));
    for (const response of answer.responses) {
      if (!('error' in response)) {
        found.push(unscreened(response.hits.hits.flatMap((hit) => hit._source ?? [])));
        continue;
      }
      const isMissing = isAway(response.status, response.error.type);
      if (!isMissing || away === undefined)
        throw new HindsightError(isMissing ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', {
          cause: new Error(`msearch: ${response.error.type}`),
        });
      found.push(unscreened(away));
    }
  }
  return found;
}
