/** Idempotency records: the first call with a key fixes the memory ids, so that a repeated one can only create the same documents; a day later the key is free again. */
import type { Client } from '@elastic/elasticsearch';
import { randomUUID } from 'node:crypto';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { IdempotencyStore } from '../domain/ports.ts';
import { LIMITS } from '../domain/wire/common.ts';
import { HindsightError } from '../errors.ts';
import { bulk, itemAway } from '../elastic/bulk.ts';
import { errorStatus, mapStoreError, RETRY, storeCall } from '../elastic/client.ts';
import { globalIndex } from '../elastic/placement.ts';

export interface IdempotencyStoreOptions {
  readonly client: Client;
  readonly prefix: string;
  readonly clock: Clock;
}

/** A claim that is older and still unfinished belongs to a call that died. */
const IN_FLIGHT_MS = 30_000;
const RELEASED_KEPT = 10_000;
const KEPT_MS = LIMITS.idempotencyHours * 3_600_000;

interface ClaimRecord {
  /** Names the call that holds the claim: a request sent twice recognises its own record. */
  readonly claim_id: string;
  readonly payload: string;
  readonly memory_ids: readonly string[];
  readonly finished: boolean;
  readonly claimed_at: string;
  readonly finished_at?: string;
  /** From then on the key is new again; absent in records of programs before schema version 2. */
  readonly expires_at?: string;
  readonly answer?: unknown;
}

/** IdempotencyStore on `<prefix>-idempotency`, realtime reads only. Errors: ERR_STORE_*. */
export function createIdempotencyStore({ client, prefix, clock }: IdempotencyStoreOptions): IdempotencyStore {
  const index = globalIndex(prefix, 'idempotency');

  /** Ids of claims of this process that no call holds any more, though the store may say otherwise. */
  const released = new Set<string>();
  const letGo = (claimId: string): void => {
    if (released.size >= RELEASED_KEPT) released.clear();
    released.add(claimId);
  };
  /** Running claims of this process, by key, with the position they were written at. */
  const running = new Map<string, { readonly claimId: string; readonly at: Position }>();
  const expiresAt = (): string => isoTime(clock() + KEPT_MS);

  /** Puts a claim in the place of the record found there: of all who try that one succeeds, the others see it in flight. */
  const replace = async (id: string, document: ClaimRecord, at: Position): Promise<'replaced' | 'in_flight'> => {
    try {
      const { _seq_no, _primary_term } = await client.index({ index, id, document, ...at });
      running.set(id, { claimId: document.claim_id, at: positionOf({ _seq_no, _primary_term }) });
      return 'replaced';
    } catch (error) {
      if (errorStatus(error) === 409) return 'in_flight';
      letGo(document.claim_id); // it may be there all the same
      throw mapStoreError(error);
    }
  };

  return {
    async claim(key, payload, memoryIds) {
      const document: ClaimRecord = {
        claim_id: randomUUID(),
        payload,
        memory_ids: memoryIds,
        finished: false,
        claimed_at: isoTime(clock()),
        expires_at: expiresAt(),
      };
      try {
        const { _seq_no, _primary_term } = await client.index({ index, id: key, document, op_type: 'create' }, RETRY);
        running.set(key, { claimId: document.claim_id, at: positionOf({ _seq_no, _primary_term }) });
        return { state: 'new', memoryIds };
      } catch (error) {
        if (errorStatus(error) !== 409) {
          letGo(document.claim_id); // it may be there all the same: only the answer is known to be lost
          throw mapStoreError(error);
        }
      }
      const found = await storeCall(() => client.get<ClaimRecord>({ index, id: key }, { ...RETRY, ignore: [404] }));
      // withdrawn or swept between the two calls
      if (!found.found) return { state: 'in_flight' };
      const held = found._source;
      if (held === undefined) throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error('a claim without _source') });
      const at = positionOf(found);
      if (held.claim_id === document.claim_id) {
        running.set(key, { claimId: document.claim_id, at });
        return { state: 'new', memoryIds };
      }
      if (held.expires_at !== undefined && Date.parse(held.expires_at) <= clock())
        return (await replace(key, document, at)) === 'replaced' ? { state: 'new', memoryIds } : { state: 'in_flight' };
      if (held.payload !== payload) return { state: 'mismatch' };
      if (held.finished) return { state: 'repeat', memoryIds: held.memory_ids, answer: held.answer };
      if (!released.delete(held.claim_id) && clock() - Date.parse(held.claimed_at) < IN_FLIGHT_MS) return { state: 'in_flight' };
      // a dead call's claim passes on with the ids it may have stored under
      const taken = await replace(key, { ...document, memory_ids: held.memory_ids }, at);
      return taken === 'replaced' ? { state: 'repeat', memoryIds: held.memory_ids, answer: undefined } : { state: 'in_flight' };
    },

    async finish(key, answer) {
      const doc = { finished: true, finished_at: isoTime(clock()), expires_at: expiresAt(), answer };
      // the same whichever of two calls writes last: both created the same documents
      await storeCall(() => client.update({ index, id: key, doc, retry_on_conflict: 3 }, RETRY));
      running.delete(key);
    },

    async release(key) {
      const mine = running.get(key);
      if (mine === undefined) return;
      running.delete(key);
      letGo(mine.claimId);
      // Best effort: while the store is away this process still knows, and others wait until the claim is old.
      await client.update({ index, id: key, doc: { claimed_at: isoTime(0) }, retry_on_conflict: 3 }).catch(() => undefined);
    },

    async withdraw(key) {
      const mine = running.get(key);
      if (mine === undefined) return;
      running.delete(key);
      letGo(mine.claimId);
      // best effort, as above: a repeat of the same payload runs all the same
      await client.delete({ index, id: key, ...mine.at }).catch(() => undefined);
    },

    async sweep(limit) {
      const expired = [
        { range: { expires_at: { lte: isoTime(clock()) } } },
        {
          bool: {
            filter: [{ range: { claimed_at: { lte: isoTime(clock() - KEPT_MS) } } }],
            must_not: [{ exists: { field: 'expires_at' } }],
          },
        },
      ];
      const found = await storeCall(() =>
        client.search(
          {
            index,
            size: limit,
            _source: false,
            seq_no_primary_term: true,
            track_total_hits: false,
            sort: ['_doc'],
            query: { bool: { filter: [{ bool: { should: expired } }] } },
          },
          RETRY,
        ),
      );
      const { hits } = found.hits;
      if (hits.length === 0) return 0;
      // by position: a key that was claimed anew since the search stays
      const items = await bulk(
        client,
        index,
        hits.map((hit) => `${JSON.stringify({ delete: { _id: hit._id, ...positionOf(hit) } })}\n`),
      );
      const settled = items.filter(({ status }) => [200, 404, 409].includes(status)).length;
      // an index that takes no deletes (a full disk) would be asked for the same ones again at once
      if (settled === 0) throw new HindsightError(items.some(itemAway) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED');
      // the next batch must not find these again
      await storeCall(() => client.indices.refresh({ index }, RETRY));
      return hits.length;
    },
  };
}

interface Position {
  readonly if_seq_no: number;
  readonly if_primary_term: number;
}

function positionOf(answer: { readonly _seq_no?: number | undefined; readonly _primary_term?: number | undefined }): Position {
  return { if_seq_no: answer._seq_no ?? 0, if_primary_term: answer._primary_term ?? 0 };
}
