/** Reads of the memory index other than search: by id, in pages, all of a kind, counts and earlier versions. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { setTimeout as pause } from 'node:timers/promises';
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import type { LinkFilter, MemoryIndex } from '../domain/ports.ts';
import type { QueryClause, Scope } from '../domain/scope.ts';
import { openScoped, unscreened } from '../domain/sealed.ts';
import type { Filter } from '../domain/wire/common.ts';
import { HindsightError } from '../errors.ts';
import { ANSWER, isAway, isMissingIndex, mapStoreError, RETRY, storeCall } from './client.ts';
import { filterClauses, linkClauses } from './filter.ts';
import { versionId } from './memory-writes.ts';
import { placementOf } from './placement.ts';

export type MemoryReads = Pick<MemoryIndex, 'get' | 'list' | 'scan' | 'versions'>;

/** Vectors are most of a record's bytes and no reader of pages wants them; lexical fields are made anew from the text. */
const WITHOUT_VECTORS = { excludes: ['vec_*', 'passages.vec_*'] };
const PIT_KEEP_ALIVE = '2m';
/** Earlier versions read back at most: with contents of 32,000 characters about 3 MB; 544 of them were 51 MB and stalled the service for a second. */
const VERSIONS_MAX = 50;

export function createMemoryReads(client: Client, prefix: string): MemoryReads {
  const aliasOf = (scope: Scope): string => placementOf(prefix, scope.tenant).memory;

  return {
    async get(box) {
      const { memoryIds } = openScoped(box);
      return unscreened(await multiGet(client, aliasOf(box.scope), memoryIds, undefined));
    },

    async list(box) {
      const { filter, links, limit, after } = openScoped(box);
      const answer = await ifIndexExists(() =>
        client.search<MemoryRecord>(
          {
            index: aliasOf(box.scope),
            query: boundQuery(box.scope, filter, links),
            // one more than asked tells whether there is a next page
            size: limit + 1,
            sort: [{ created_at: 'desc' }, { memory_id: 'desc' }],
            ...(after === undefined ? {} : { search_after: [...after] }),
            _source: WITHOUT_VECTORS,
            track_total_hits: false,
            allow_partial_search_results: false,
          },
          ANSWER,
        ),
      );
      const hits = answer?.hits.hits ?? [];
      const page = hits.slice(0, limit);
      const last = page.at(-1)?.sort;
      const next = hits.length > limit && last !== undefined ? ([Number(last[0]), String(last[1])] as const) : undefined;
      return unscreened({ records: page.map(sourceOf), next });
    },

    async *scan(box) {
      const { filter, pageSize } = openScoped(box);
      const pit = await ifIndexExists(() => client.openPointInTime({ index: aliasOf(box.scope), keep_alive: PIT_KEEP_ALIVE }, RETRY));
      if (pit === undefined) return;
      let id = pit.id;
      let after: estypes.SortResults | undefined;
      try {
        for (;;) {
          const answer: estypes.SearchResponse<MemoryRecord> = await storeCall(() =>
            client.search<MemoryRecord>(
              {
                pit: { id, keep_alive: PIT_KEEP_ALIVE },
                query: boundQuery(box.scope, filter),
                size: pageSize,
                sort: ['_shard_doc'],
                ...(after === undefined ? {} : { search_after: after }),
                _source: WITHOUT_VECTORS,
                track_total_hits: false,
                allow_partial_search_results: false,
              },
              RETRY,
            ),
          );
          id = answer.pit_id ?? id;
          const { hits } = answer.hits;
          if (hits.length > 0) yield unscreened(hits.map(sourceOf));
          after = hits.at(-1)?.sort;
          if (hits.length < pageSize || after === undefined) return;
        }
      } finally {
        // best effort: an unclosed point in time ends by itself after keep_alive
        await client.closePointInTime({ id }).catch(() => undefined);
      }
    },

    async versions(box) {
      const { memoryId, version } = openScoped(box);
      const [head] = await multiGet(client, aliasOf(box.scope), [memoryId], ['version']);
      if (head === undefined) return unscreened([]);
      const newest = version ?? head.record.version - 1;
      if (newest >= head.record.version) return unscreened([]);
      const count = version === undefined ? Math.min(newest, VERSIONS_MAX) : 1;
      const ids = Array.from({ length: count }, (_, i) => versionId(memoryId, newest - i));
      const copies = await multiGet(client, placementOf(prefix, box.scope.tenant).versions, ids, undefined, WITHOUT_VECTORS.excludes);
      return unscreened(copies.map((copy) => copy.record));
    },
  };
}

/** The mandatory filter and the caller's, as one bool.filter. */
export function boundQuery(scope: Scope, filter: Filter, links: LinkFilter = {}): estypes.QueryDslQueryContainer {
  const clauses: QueryClause[] = [...scope.filter, ...filterClauses(filter, scope.principal.owner), ...linkClauses(links)];
  return { bool: { filter: clauses } };
}

/** The answer, or undefined when the tenant has no index yet. */
export async function ifIndexExists<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isMissingIndex(error)) return undefined;
    throw mapStoreError(error);
  }
}

/** Realtime read by id, in order, missing ones left out. */
async function multiGet(
  client: Client,
  index: string,
  ids: readonly string[],
  includes: string[] | undefined,
  excludes?: string[],
): Promise<StoredRecord[]> {
  if (ids.length === 0) return [];
  const ask = () =>
    storeCall(() =>
      client.mget<MemoryRecord>(
        {
          index,
          ids: [...ids],
          ...(includes === undefined ? {} : { _source_includes: includes }),
          ...(excludes === undefined ? {} : { _source_excludes: excludes }),
        },
        ANSWER,
      ),
    );
  let answer = await ask();
  // an index that is just being made answers so for each document, with a status of 200
  for (let attempt = 1; attempt <= RETRY.maxRetries && answer.docs.some(isWithoutShard); attempt += 1) {
    await pause(1000 * RETRY.retryBackoff(0, 0, attempt));
    answer = await ask();
  }
  const records: StoredRecord[] = [];
  for (const doc of answer.docs) {
    if ('error' in doc) {
      const { type } = doc.error;
      if (type === 'index_not_found_exception') continue;
      throw new HindsightError(isAway(undefined, type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', {
        cause: new Error(`mget: ${type}`),
      });
    }
    if (!doc.found || doc._source === undefined) continue;
    records.push({ record: doc._source, at: { seq_no: doc._seq_no ?? 0, primary_term: doc._primary_term ?? 0 } });
  }
  return records;
}

function isWithoutShard(doc: object): boolean {
  return 'error' in doc && (doc.error as { readonly type?: string }).type === 'no_shard_available_action_exception';
}

function sourceOf(hit: estypes.SearchHit<MemoryRecord>): MemoryRecord {
  if (hit._source === undefined) throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error('a hit without _source') });
  return hit._source;
}
