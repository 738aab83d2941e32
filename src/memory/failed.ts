/** What a batch answers for an item that the store did not take; memory_write and memory_import say it alike. */
import type { CreateOutcome } from '../domain/ports.ts';

const REFUSED = 'the store refused this memory; the others are not affected';
/** No answer is no refusal: the memory may be there (a time-out under load). */
const UNANSWERED =
  'Elasticsearch did not answer for this memory in time, so it may or may not be stored; send the call again with the same Idempotency-Key';

/** The reason of an outcome that is no success; `undefined`: its piece of the batch was never answered. */
export function failedReason(outcome: CreateOutcome | undefined): string {
  return outcome === undefined || (outcome.outcome === 'failed' && outcome.reason === 'unavailable') ? UNANSWERED : REFUSED;
}
