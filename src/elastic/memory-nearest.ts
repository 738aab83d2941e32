/** Looks for memories whose vectors are nearest to given ones: one knn search each in one multi-search, the scope's filter inside. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { MemoryRecord } from '../domain/memory.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import { openScoped, unscreened } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { ANSWER, isAway, storeCall } from './client.ts';
import { linkClauses } from './filter.ts';
import { placementOf } from './placement.ts';

const WITHOUT_VECTORS = { excludes: ['vec_*', 'passages'] };
/** Candidates of the graph search for each wanted neighbour: few are wanted, and the nearest must be among them. */
const CANDIDATES = 50;

export function createMemoryNearest(client: Client, prefix: string): Pick<MemoryIndex, 'nearest'> {
  return {
    async nearest(looks) {
      if (looks.length === 0) return [];
      const searches = looks.flatMap((look): estypes.MsearchRequestItem[] => {
        const { links, field, vector, cosine, limit } = openScoped(look);
        const filter = [...look.scope.filter, ...linkClauses(links)];
        const knn = { field, query_vector: Array.from(vector), k: limit, num_candidates: CANDIDATES, similarity: cosine, filter };
        return [
          { index: placementOf(prefix, look.scope.tenant).memory, ignore_unavailable: true, allow_no_indices: true },
          { knn, size: limit, track_total_hits: false, _source: WITHOUT_VECTORS },
        ];
      });
      const answer = await storeCall(() => client.msearch<MemoryRecord>({ searches, max_concurrent_searches: 4 }, ANSWER));
      return answer.responses.map((response) => {
        if ('error' in response) {
          const code = isAway(response.status, response.error.type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED';
          throw new HindsightError(code, { cause: new Error(`msearch: ${response.error.type}`) });
        }
        return unscreened(response.hits.hits.flatMap((hit) => hit._source ?? []));
      });
    },
  };
}
