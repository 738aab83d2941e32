/** Idempotency-Key: the same call twice has one effect and one answer; wraps the write path. */
import { HindsightError } from '../errors.ts';
import { canonicalJson } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { keyedHash } from './signed.ts';

/**
 * Runs `work` under the call's Idempotency-Key. A repeat gets the kept answer, or, when the first attempt was cut off, runs again with the
 * same ids (creation is op_type=create, so nothing is stored twice).
 * @throws ERR_IDEMPOTENCY_MISMATCH (422) for another payload, ERR_IDEMPOTENCY_IN_FLIGHT (409) while the first call runs.
 */
export async function idempotent<T>(
  deps: Pick<MemoryDeps, 'idempotency' | 'keys'>,
  call: CallContext,
  payload: unknown,
  newIds: readonly string[],
  work: (memoryIds: readonly string[]) => Promise<T>,
  isFinal: (answer: T) => boolean,
): Promise<T> {
  if (call.idempotencyKey === undefined) return work(newIds);
  const { tenant, owner } = call.principal;
  const key = keyedHash(deps.keys.idempotency, ['key', tenant, owner, call.route, call.idempotencyKey]);
  const hash = keyedHash(deps.keys.idempotency, ['payload', canonicalJson(payload)]);
  const claim = await deps.idempotency.claim(key, hash, newIds);
  switch (claim.state) {
    case 'mismatch':
      throw new HindsightError('ERR_IDEMPOTENCY_MISMATCH');
    case 'in_flight':
      throw new HindsightError('ERR_IDEMPOTENCY_IN_FLIGHT');
    case 'repeat':
      // The kept answer is our own, written by finish() below.
      if (claim.answer !== undefined && claim.answer !== null) return claim.answer as T;
      break;
    case 'new':
      break;
  }
  let kept = false;
  try {
    const answer = await work(claim.memoryIds);
    // An answer that tells of failures is not kept: the repeat may yet succeed.
    if (isFinal(answer)) {
      await deps.idempotency.finish(key, answer);
      kept = true;
    }
    return answer;
  } finally {
    if (!kept) await deps.idempotency.release(key);
  }
}
