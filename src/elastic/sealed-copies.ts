/** Takes sealed values out of the copies of earlier versions: what is forgotten leaves nothing that a key could open. */
import type { Client } from '@elastic/elasticsearch';
import type { MemoryIndex } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { bulk, itemAway } from './bulk.ts';
import { isMissingIndex, mapStoreError, RETRY } from './client.ts';
import { placementOf } from './placement.ts';

/** Ids of one search, and copies it answers at most; there may be further ones. */
const IDS_AT_ONCE = 1_000;
const COPIES_AT_ONCE = 1_000;
const GONE = '{"doc":{"sealed":null,"key_id":null}}\n';

export function createSealedCopies(client: Client, prefix: string): Pick<MemoryIndex, 'dropSealedCopies'> {
  const sealedIds = async (index: string, memoryIds: readonly string[]): Promise<readonly string[]> => {
    try {
      // copies made a moment ago are not searchable yet
      await client.indices.refresh({ index }, RETRY);
      const answer = await client.search(
        {
          index,
          size: COPIES_AT_ONCE,
          query: { bool: { filter: [{ terms: { memory_id: [...memoryIds] } }, { exists: { field: 'key_id' } }] } },
          sort: ['_doc'],
          _source: false,
          track_total_hits: false,
          allow_partial_search_results: false,
        },
        RETRY,
      );
      return answer.hits.hits.flatMap(({ _id }) => (_id === undefined ? [] : [_id]));
    } catch (error) {
      if (isMissingIndex(error)) return [];
      throw mapStoreError(error);
    }
  };

  return {
    async dropSealedCopies(tenant, memoryIds) {
      const index = placementOf(prefix, tenant).versions;
      for (let from = 0; from < memoryIds.length; from += IDS_AT_ONCE)
        for (;;) {
          const ids = await sealedIds(index, memoryIds.slice(from, from + IDS_AT_ONCE));
          if (ids.length === 0) break;
          const items = await bulk(
            client,
            index,
            ids.map((id) => `${JSON.stringify({ update: { _id: id, retry_on_conflict: 3 } })}\n${GONE}`),
          );
          const failed = items.find(({ status }) => status >= 300 && status !== 404);
          if (failed !== undefined)
            throw new HindsightError(itemAway(failed) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', {
              cause: new Error(`a copy kept its sealed values: ${failed.errorType ?? failed.status}`),
            });
          if (ids.length < COPIES_AT_ONCE) break;
        }
    },
  };
}
