/** The recall trace in Elasticsearch: an index beside the tenant's memories, so that it goes with them when the tenant goes, and no query ever crosses tenants. */
import type { estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import { RECALL_LIFE_MS, type RecallStore, type StoredRecall } from '../domain/recall.ts';
import { bulk, itemAway } from '../elastic/bulk.ts';
import { RETRY, storeCall, type StoreClient } from '../elastic/client.ts';
import { ifIndexExists } from '../elastic/memory-reads.ts';
import { placementOf, tenantPattern } from '../elastic/placement.ts';
import type { Schema } from '../elastic/schema.ts';
import { HindsightError } from '../errors.ts';

export interface RecallStoreParts {
  readonly client: StoreClient;
  readonly schema: Pick<Schema, 'prefix' | 'ensureTenant' | 'forgetTenant'>;
  readonly clock: Clock;
}

/** An agent's turn makes a few; a caller who puts everything under one trace id reads the first. */
const RECALLS_OF_A_TRACE = 100;
/** 409: stored by a request whose answer was lost. */
const STORED: readonly number[] = [200, 201, 409];
const GONE: readonly number[] = [200, 404];

/** RecallStore on `<prefix>-mem-<hash>-recall`, made by the tenant's first recall. */
export function createRecallStore({ client, schema, clock }: RecallStoreParts): RecallStore {
  const { prefix } = schema;
  const indexOf = (tenant: string): string => placementOf(prefix, tenant).recall;
  const lived = (): string => isoTime(clock() - RECALL_LIFE_MS);

  /** By index and id: a recall is never changed. */
  const remove = async (hits: readonly estypes.SearchHit[]): Promise<void> => {
    for (const [index, ids] of idsByIndex(hits)) {
      const items = await bulk(
        client,
        index,
        ids.map((id) => `${JSON.stringify({ delete: { _id: id } })}\n`),
      );
      const left = items.find(({ status }) => !GONE.includes(status));
      // an index that takes no deletes would be asked for the same ones again at once
      if (left !== undefined) throw new HindsightError(itemAway(left) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED');
      // the next batch must not find these again
      await storeCall(() => client.indices.refresh({ index }, RETRY));
    }
  };

  return {
    async append(tenant, recalls) {
      await schema.ensureTenant(tenant, 'recall');
      const lines = recalls.map(
        ({ recall_id, ...facts }) =>
          `${JSON.stringify({ create: { _id: recall_id } })}\n${JSON.stringify({ ...facts, memory_ids: facts.hits.map((hit) => hit.memory_id) })}\n`,
      );
      const items = await bulk(client, indexOf(tenant), lines, { repeatable: true });
      const failed = items.filter(({ status }) => !STORED.includes(status));
      const away = failed.find(itemAway);
      if (away !== undefined)
        throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error(`recalls: ${away.errorType ?? 'no answer'}`) });
      // somebody took the index away: the next group makes it again
      if (failed.length > 0) schema.forgetTenant(tenant);
      return failed.length;
    },

    async find(tenant, { traceId, owner }) {
      const index = indexOf(tenant);
      const answer = await ifIndexExists(async () => {
        // whoever asks about a recall that was just answered finds it
        await client.indices.refresh({ index }, RETRY);
        return client.search<Omit<StoredRecall, 'recall_id'>>(
          {
            index,
            size: RECALLS_OF_A_TRACE,
            track_total_hits: false,
            allow_partial_search_results: false,
            query: {
              bool: {
                filter: [
                  { term: { tenant } },
                  { term: { trace_id: traceId } },
                  ...(owner === undefined ? [] : [{ term: { owner } }]),
                  { range: { at: { gt: lived() } } },
                ],
              },
            },
            _source_excludes: ['memory_ids'],
            sort: [{ at: 'asc' }],
          },
          RETRY,
        );
      });
      const hits = answer?.hits.hits ?? [];
      return hits.flatMap(({ _id, _source }) => (_id === undefined || _source === undefined ? [] : [{ ..._source, recall_id: _id }]));
    },

    async sweep(limit) {
      const found = await storeCall(() =>
        client.search(
          {
            index: tenantPattern(prefix, 'recall'),
            allow_no_indices: true,
            size: limit,
            _source: false,
            track_total_hits: false,
            query: { bool: { filter: [{ range: { at: { lte: lived() } } }] } },
            sort: ['_doc'],
          },
          RETRY,
        ),
      );
      await remove(found.hits.hits);
      return found.hits.hits.length;
    },
  };
}

function idsByIndex(hits: readonly estypes.SearchHit[]): Map<string, string[]> {
  const byIndex = new Map<string, string[]>();
  for (const { _index, _id } of hits) {
    if (_id === undefined) continue;
    const ids = byIndex.get(_index);
    if (ids === undefined) byIndex.set(_index, [_id]);
    else ids.push(_id);
  }
  return byIndex;
}
