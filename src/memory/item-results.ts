/** What a batch answers for an item that was not stored; memory_write and memory_import say it alike. */
import type { CreateOutcome } from '../domain/ports.ts';
import type { WriteResult } from '../domain/wire/write.ts';
import type { FieldFault, HindsightError } from '../errors.ts';

/** Said of whatever is written to a namespace whose collecting is switched off. */
export const COLLECTION_OFF = 'collection off: this namespace takes no new memories';

const REFUSED = 'the store refused this memory; the others are not affected';
/** No answer is no refusal: the memory may be there (a time-out under load). */
const UNANSWERED =
  'Elasticsearch did not answer for this memory in time, so it may or may not be stored; send the call again with the same Idempotency-Key';

/** A result without a record behind it. */
export function bareResult(outcome: WriteResult['outcome'], reason?: string): WriteResult {
  return { memory_id: null, outcome, ...(reason === undefined ? {} : { reason }), settled: true, replaced: [], masked: [] };
}

/** Of an outcome that is no success; `undefined`: its piece of the batch was never answered. */
export function failedResult(outcome?: CreateOutcome): WriteResult {
  const unanswered = outcome === undefined || (outcome.outcome === 'failed' && outcome.reason === 'unavailable');
  return bareResult('failed', unanswered ? UNANSWERED : REFUSED);
}

export function invalidResult(faults: readonly FieldFault[]): WriteResult {
  return { ...bareResult('invalid', 'this item is not valid'), errors: faults.map((fault) => ({ ...fault })) };
}

/** The faults of an item's error, as pointers from the whole body. */
export function faultsOf(error: HindsightError, base: string): readonly FieldFault[] {
  if (error.faults.length > 0) return error.faults.map(({ pointer, message }) => ({ pointer: base + pointer, message }));
  return [{ pointer: error.code === 'ERR_NAMESPACE_FORBIDDEN' ? `${base}/namespace` : base, message: error.message }];
}
