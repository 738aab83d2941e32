/** Looks for memories whose vectors are nearest to given ones: one knn search each, the scope's filter inside. */
import type { Client } from '@elastic/elasticsearch';
import type { MemoryIndex } from '../domain/ports.ts';
import { openScoped } from '../domain/sealed.ts';
import { linkClauses } from './filter.ts';
import { multiSearch } from './multi-search.ts';
import { placementOf } from './placement.ts';

/** Candidates of the graph search for each wanted neighbour: few are wanted, and the nearest must be among them. */
const CANDIDATES = 50;

export function createMemoryNearest(client: Client, prefix: string): Pick<MemoryIndex, 'nearest'> {
  return {
    nearest: (looks) =>
      multiSearch(
        client,
        looks.map((look) => {
          const { links, field, vector, cosine, limit } = openScoped(look);
          const filter = [...look.scope.filter, ...linkClauses(links)];
          const knn = { field, query_vector: Array.from(vector), k: limit, num_candidates: CANDIDATES, similarity: cosine, filter };
          return { index: placementOf(prefix, look.scope.tenant).memory, body: { knn, size: limit } };
        }),
      ),
  };
}
