/** What a search looks for: the question, and the other wording of it where there is one; before anything else reads the call. */
import type { SearchInput } from '../domain/wire/read.ts';
import { invalid } from './record.ts';

export interface Asked {
  readonly query: string;
  /** Another text that asks the same: the turn itself beside its rewrite. */
  readonly also: string | undefined;
}

/**
 * `query` first, then `queries`, equal texts once: two at most (the operation refuses more), because a turn and its rewrite are what a client
 * has, and each costs clauses of the one query and a vector. @throws ERR_REQUEST_INVALID when there is no text.
 */
export function askedIn({ query, queries = [] }: Pick<SearchInput, 'query' | 'queries'>): Asked {
  const [first, also] = new Set([...(query === undefined ? [] : [query]), ...queries]);
  if (first === undefined) throw invalid('/query', 'is required');
  return { query: first, also };
}
