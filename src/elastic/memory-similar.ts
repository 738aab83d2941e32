/** Looks for memories of nearly the same words at the write: the terms of each in one search, unscored filters around them. */
import type { Client } from '@elastic/elasticsearch';
import type { MemoryIndex } from '../domain/ports.ts';
import { openScoped } from '../domain/sealed.ts';
import { linkClauses } from './filter.ts';
import { multiSearch } from './multi-search.ts';
import { placementOf } from './placement.ts';

export function createMemorySimilar(client: Client, prefix: string): Pick<MemoryIndex, 'similar'> {
  return {
    similar: (looks) =>
      multiSearch(
        client,
        looks.map((look) => {
          const { links, terms, share, limit } = openScoped(look);
          const minimum = Math.max(1, Math.floor(share * terms.length));
          const match = { match: { lex_uni: { query: terms.join(' '), minimum_should_match: minimum } } };
          const query = { bool: { filter: [...look.scope.filter, ...linkClauses(links)], must: [match] } };
          return { index: placementOf(prefix, look.scope.tenant).memory, body: { query, size: limit } };
        }),
        // an index that is just being made, or a shard that is away: what it holds is compared again by the embed job
        [],
      ),
  };
}
