/** SlotStore on a tenant's slots index: claims made once, moved by position, read in realtime; memory/conflicts decides by them. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { SlotStore } from '../domain/ports.ts';
import type { HeldSlot, SlotClaim, SlotDocument } from '../domain/slots.ts';
import { HindsightError } from '../errors.ts';
import { bulk, itemAway, type BulkItem } from '../elastic/bulk.ts';
import { ANSWER, isAway, RETRY, storeCall } from '../elastic/client.ts';
import { placementOf } from '../elastic/placement.ts';
import type { Schema } from '../elastic/schema.ts';
import { tenantBuckets } from './tenant-buckets.ts';

export interface SlotStoreOptions {
  readonly client: Client;
  readonly schema: Pick<Schema, 'prefix' | 'ensureTenant'>;
  readonly clock: Clock;
}

/** Every request of a batch goes as one. Errors: ERR_STORE_*. */
export function createSlotStore({ client, schema, clock }: SlotStoreOptions): SlotStore {
  const indexOf = (tenant: string): string => placementOf(schema.prefix, tenant).slots;

  const read = async (tenant: string, ids: readonly string[]): Promise<readonly HeldSlot[]> => {
    if (ids.length === 0) return [];
    const answer = await storeCall(() => client.mget<SlotDocument>({ index: indexOf(tenant), ids: [...ids] }, ANSWER));
    return answer.docs.flatMap((doc) => {
      if ('error' in doc) {
        const { type } = doc.error;
        if (type === 'index_not_found_exception') return [];
        throw new HindsightError(isAway(undefined, type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', {
          cause: new Error(`mget: ${type}`),
        });
      }
      if (!doc.found || doc._source === undefined) return [];
      return [{ id: doc._id, document: doc._source, at: { seq_no: doc._seq_no ?? 0, primary_term: doc._primary_term ?? 0 } }];
    });
  };

  return {
    read,

    async claim(tenant, claims) {
      if (claims.length === 0) return [];
      await schema.ensureTenant(tenant, 'slots');
      const items = await bulk(client, indexOf(tenant), claims.map(createLines), { repeatable: true });
      refuseFaults(items, [409]);
      const taken = claims.filter((_claim, i) => items[i]?.status === 409).map(({ id }) => id);
      const there = new Map((await read(tenant, taken)).map((slot) => [slot.id, slot]));
      return claims.map((claim, i) => (items[i]?.status === 409 ? there.get(claim.id) : { ...claim, at: positionOf(items[i]) }));
    },

    async move(tenant, moves) {
      if (moves.length === 0) return [];
      const items = await bulk(client, indexOf(tenant), moves.map(replaceLines));
      // gone is moved, too
      refuseFaults(items, [404, 409]);
      return moves.map((move, i) => {
        const item = items[i];
        if (item === undefined || item.status >= 300) return 'conflict';
        return { ...move, at: positionOf(item) };
      });
    },

    async release(tenant, claims) {
      const wanted = new Map(claims.map(({ id, memoryId }) => [id, memoryId]));
      const held = (await read(tenant, [...wanted.keys()])).filter(
        ({ id, document }) => document.memory_id === wanted.get(id) && document.previous_id === undefined,
      );
      if (held.length === 0) return;
      const items = await bulk(client, indexOf(tenant), held.map(deleteLine));
      refuseFaults(items, [404, 409]);
    },

    async dueTenants() {
      const due = await tenantBuckets(client, schema.prefix, { bool: { filter: unfinishedBy(clock()) } }, 'slots');
      return due.map(({ tenant, count }) => ({ tenant, count }));
    },

    async unfinished(tenant, limit) {
      const answer = await storeCall(() =>
        client.search<SlotDocument>(
          {
            index: indexOf(tenant),
            ignore_unavailable: true,
            allow_partial_search_results: false,
            size: limit,
            track_total_hits: false,
            seq_no_primary_term: true,
            query: { bool: { filter: [{ term: { tenant } }, ...unfinishedBy(clock())] } },
            sort: [{ lease_until: { order: 'asc' } }],
          },
          RETRY,
        ),
      );
      return answer.hits.hits.flatMap(({ _id: id, _source: document, _seq_no, _primary_term }) =>
        id === undefined || document === undefined
          ? []
          : [{ id, document, at: { seq_no: _seq_no ?? 0, primary_term: _primary_term ?? 0 } }],
      );
    },
  };
}

const unfinishedBy = (nowMs: number): estypes.QueryDslQueryContainer[] => [
  { exists: { field: 'previous_id' } },
  { range: { lease_until: { lte: isoTime(nowMs) } } },
];

const positionOf = (item: BulkItem | undefined): HeldSlot['at'] => ({ seq_no: item?.seqNo ?? 0, primary_term: item?.primaryTerm ?? 0 });

const createLines = ({ id, document }: SlotClaim): string => `${JSON.stringify({ create: { _id: id } })}\n${JSON.stringify(document)}\n`;

const replaceLines = ({ id, document, at }: HeldSlot): string =>
  `${JSON.stringify({ index: { _id: id, if_seq_no: at.seq_no, if_primary_term: at.primary_term } })}\n${JSON.stringify(document)}\n`;

const deleteLine = ({ id, at }: HeldSlot): string =>
  `${JSON.stringify({ delete: { _id: id, if_seq_no: at.seq_no, if_primary_term: at.primary_term } })}\n`;

/** A claim that nobody knows the fate of stops the write: it runs again under the same ids. */
function refuseFaults(items: readonly BulkItem[], expected: readonly number[]): void {
  const fault = items.find(({ status }) => status >= 300 && !expected.includes(status));
  if (fault === undefined) return;
  throw new HindsightError(itemAway(fault) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', {
    cause: new Error(`slots: ${fault.errorType ?? 'no reason given'}`),
  });
}
