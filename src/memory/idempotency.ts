/** Idempotency-Key: the same call twice has one effect and one answer; wraps the write path. */
import { HindsightError } from '../errors.ts';
import { canonicalJsonOfItems } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { keyedHash } from './signed.ts';

/** A call in two steps: what may refuse it, and what has an effect. */
export interface KeyedWork<J, T> {
  /** May throw what the caller did wrong; stores nothing under the ids. */
  judge(memoryIds: readonly string[]): Promise<J>;
  perform(judged: J): Promise<T>;
  /** False: the answer tells of failures and is not kept, because the repeat may yet succeed. */
  isFinal(answer: T): boolean;
}

/**
 * Runs the work under the call's Idempotency-Key. A kept answer is given before anything is judged: rules, quotas and states may have
 * changed since, what happened has not. A first attempt that was cut off runs again with the same ids (creation is op_type=create, so
 * nothing is stored twice); one that was refused leaves the key free.
 * @throws ERR_IDEMPOTENCY_MISMATCH (422) for another payload, ERR_IDEMPOTENCY_IN_FLIGHT (409) while the first call runs.
 */
export async function idempotent<J, T>(
  deps: Pick<MemoryDeps, 'idempotency' | 'keys'>,
  call: CallContext,
  payload: { readonly items?: readonly unknown[] | undefined },
  newIds: readonly string[],
  work: KeyedWork<J, T>,
): Promise<T> {
  if (call.idempotencyKey === undefined) return work.perform(await work.judge(newIds));
  const { tenant, owner, actor } = call.principal;
  // a person's call is no repeat of what their agent said before it, nor the other way round
  const key = keyedHash(deps.keys.idempotency, ['key', tenant, owner, actor, call.route, call.idempotencyKey]);
  const hash = keyedHash(deps.keys.idempotency, ['payload', await canonicalJsonOfItems(payload)]);
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
  let judged: J;
  try {
    judged = await work.judge(claim.memoryIds);
  } catch (error) {
    // an attempt that was cut off may have stored under these ids: its repeat must get them again
    await (claim.state === 'new' ? deps.idempotency.withdraw(key) : deps.idempotency.release(key));
    throw error;
  }
  let kept = false;
  try {
    const answer = await work.perform(judged);
    if (work.isFinal(answer)) {
      await deps.idempotency.finish(key, answer);
      kept = true;
    }
    return answer;
  } finally {
    if (!kept) await deps.idempotency.release(key);
  }
}
