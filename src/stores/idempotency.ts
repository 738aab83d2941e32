/** Idempotency records: the first call with a key fixes the memory ids, so that a repeated one can only create the same documents. */
import type { Client } from '@elastic/elasticsearch';
import { randomUUID } from 'node:crypto';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { IdempotencyClaim, IdempotencyStore } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
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

interface ClaimRecord {
  /** Names the call that holds the claim: a request sent twice recognises its own record. */
  readonly claim_id: string;
  readonly payload: string;
  readonly memory_ids: readonly string[];
  readonly finished: boolean;
  readonly claimed_at: string;
  readonly finished_at?: string;
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
  /** Running claims of this process, by key. */
  const running = new Map<string, string>();

  /** A dead call's claim passes to exactly one of those who repeat it: the others see it in flight. */
  const takeOver = async (id: string, held: ClaimRecord, at: { if_seq_no: number; if_primary_term: number }): Promise<IdempotencyClaim> => {
    const document: ClaimRecord = { ...held, claim_id: randomUUID(), claimed_at: isoTime(clock()) };
    try {
      await client.index({ index, id, document, ...at });
    } catch (error) {
      if (errorStatus(error) === 409) return { state: 'in_flight' };
      letGo(document.claim_id); // it may be there all the same
      throw mapStoreError(error);
    }
    running.set(id, document.claim_id);
    return { state: 'repeat', memoryIds: held.memory_ids, answer: undefined };
  };

  return {
    async claim(key, payload, memoryIds) {
      const document: ClaimRecord = {
        claim_id: randomUUID(),
        payload,
        memory_ids: memoryIds,
        finished: false,
        claimed_at: isoTime(clock()),
      };
      try {
        await client.index({ index, id: key, document, op_type: 'create' }, RETRY);
        running.set(key, document.claim_id);
        return { state: 'new', memoryIds };
      } catch (error) {
        if (errorStatus(error) !== 409) {
          letGo(document.claim_id); // it may be there all the same: only the answer is known to be lost
          throw mapStoreError(error);
        }
      }
      const found = await storeCall(() => client.get<ClaimRecord>({ index, id: key }, RETRY));
      const held = found._source;
      if (held === undefined) throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error('a claim without _source') });
      if (held.claim_id === document.claim_id) {
        running.set(key, document.claim_id);
        return { state: 'new', memoryIds };
      }
      if (held.payload !== payload) return { state: 'mismatch' };
      if (held.finished) return { state: 'repeat', memoryIds: held.memory_ids, answer: held.answer };
      if (!released.delete(held.claim_id) && clock() - Date.parse(held.claimed_at) < IN_FLIGHT_MS) return { state: 'in_flight' };
      return takeOver(key, held, { if_seq_no: found._seq_no ?? 0, if_primary_term: found._primary_term ?? 0 });
    },

    async finish(key, answer) {
      const doc = { finished: true, finished_at: isoTime(clock()), answer };
      // the same whichever of two calls writes last: both created the same documents
      await storeCall(() => client.update({ index, id: key, doc, retry_on_conflict: 3 }, RETRY));
      running.delete(key);
    },

    async release(key) {
      const claimId = running.get(key);
      if (claimId === undefined) return;
      running.delete(key);
      letGo(claimId);
      // Best effort: while the store is away this process still knows, and others wait until the claim is old.
      await client.update({ index, id: key, doc: { claimed_at: isoTime(0) }, retry_on_conflict: 3 }).catch(() => undefined);
    },
  };
}
