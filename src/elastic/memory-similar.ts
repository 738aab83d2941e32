/** Looks for memories of nearly the same words at the write: the terms of each in one multi-search, unscored filters around them. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { MemoryRecord } from '../domain/memory.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import type { Scope } from '../domain/scope.ts';
import { openScoped, unscreened } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { ANSWER, isAway, storeCall } from './client.ts';
import { linkClauses } from './filter.ts';
import { placementOf } from './placement.ts';

const WITHOUT_VECTORS = { excludes: ['vec_*', 'passages'] };

export function createMemorySimilar(client: Client, prefix: string): Pick<MemoryIndex, 'similar'> {
  const aliasOf = (scope: Scope): string => placementOf(prefix, scope.tenant).memory;
  return {
    async similar(looks) {
      if (looks.length === 0) return [];
      const searches = looks.flatMap((look): estypes.MsearchRequestItem[] => {
        const { links, terms, share, limit } = openScoped(look);
        const minimum = Math.max(1, Math.floor(share * terms.length));
        const query = { match: { lex_uni: { query: terms.join(' '), minimum_should_match: minimum } } };
        const filter = [...look.scope.filter, ...linkClauses(links)];
        return [
          { index: aliasOf(look.scope), ignore_unavailable: true, allow_no_indices: true },
          { query: { bool: { filter, must: [query] } }, size: limit, track_total_hits: false, _source: WITHOUT_VECTORS },
        ];
      });
      const answer = await storeCall(() => client.msearch<MemoryRecord>({ searches, max_concurrent_searches: 4 }, ANSWER));
      return answer.responses.map((response) => {
        if ('error' in response) {
          // an index that is just being made, or a shard that is away: what it holds is compared again by the embed job
          if (isAway(response.status, response.error.type)) return unscreened([]);
          throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error(`msearch: ${response.error.type}`) });
        }
        return unscreened(response.hits.hits.flatMap((hit) => hit._source ?? []));
      });
    },
  };
}
