/** FeedbackStore in the tenant's stats sidecar: votes beside the access counters of the same memory, changed by compare-and-set. */
import { isoTime, type Clock } from '../domain/clock.ts';
import type { FeedbackStore, KeptFeedback } from '../domain/feedback.ts';
import { HindsightError } from '../errors.ts';
import type { StoreClient } from '../elastic/client.ts';
import { placementOf } from '../elastic/placement.ts';
import type { Schema } from '../elastic/schema.ts';
import { compareAndSet } from './compare-and-set.ts';

export interface FeedbackStoreOptions {
  readonly client: StoreClient;
  readonly schema: Pick<Schema, 'prefix' | 'ensureTenant'>;
  readonly clock: Clock;
}

/** Counters are flushed beside it, each every few seconds. */
const TRIES = 10;

export function createFeedbackStore({ client, schema, clock }: FeedbackStoreOptions): FeedbackStore {
  return {
    async update(tenant, memoryId, change) {
      await schema.ensureTenant(tenant, 'stats');
      const documents = compareAndSet(client, placementOf(schema.prefix, tenant).stats);
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const found = await documents.read<Partial<KeptFeedback>>(memoryId);
        const { feedback, votes } = found?.source ?? {};
        const kept = feedback === undefined || votes === undefined ? undefined : { feedback, votes };
        const next = change(kept);
        if (next === undefined) return kept;
        const document = { ...found?.source, ...next, tenant, memory_id: memoryId, updated_at: isoTime(clock()) };
        if ((await documents.write(memoryId, document, found?.at)) === 'kept') return next;
      }
      throw new HindsightError('ERR_VERSION_CONFLICT');
    },
  };
}
