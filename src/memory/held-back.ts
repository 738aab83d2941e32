/** A pending write and its own writer: what the client's form shows to the user behind it, and the answer that comes back on the same call. */
import { canonicalJson } from '../domain/canonical-json.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { ReviewAnswer } from '../domain/wire/review.ts';
import { HindsightError } from '../errors.ts';
import { sealedTextsOf } from '../guard/sealed-texts.ts';
import { proposedTo } from './apply-proposal.ts';
import { loadHeld } from './decidable.ts';
import type { MemoryDeps } from './deps.ts';
import type { Acknowledgement, CallContext, HeldBack } from './gateway.ts';
import { ASKS_TO_INVALIDATE, ASKS_TO_SHARE } from './proposals.ts';
import { writerOf } from './record.ts';
import { contentHash } from './review-item.ts';
import { carryOut } from './review.ts';
import type { TurnLinks } from './turn-links.ts';

/** Undefined for what does not wait, waits no longer, or was last written by another token's holder: nobody is asked about others' words. */
export async function heldBack(deps: MemoryDeps, memoryId: string, call: CallContext): Promise<HeldBack | undefined> {
  try {
    const { record } = await loadHeld(deps, 'pending', memoryId, call);
    if (!isOwn(record, call)) return undefined;
    const { memory_id, namespace, guard } = record;
    const asks = asksOf(record);
    return { memory_id, namespace, texts: sealedTextsOf(record), asks, content_hash: contentHash(record), rule_ids: guard.rule_ids };
  } catch (error) {
    if (error instanceof HindsightError && error.code === 'ERR_MEMORY_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * The answer of the user whom the client asked. Unlike a person's decision over REST it needs no scope beyond writing and never makes
 * anything user_confirmed, because an agent's token carries it.
 * Failures: ERR_MEMORY_NOT_FOUND when it is not this caller's or has been decided on, ERR_REVIEW_CHANGED when the texts are not those that
 * were shown, ERR_ACTOR_FORBIDDEN for an answer, a yes or a no, that came in a way that is not believed of this token.
 */
export async function acknowledge(
  deps: MemoryDeps,
  turns: TurnLinks,
  input: Acknowledgement,
  call: CallContext,
): Promise<Omit<ReviewAnswer, 'trace_id'>> {
  // a no of nobody would take what waits out of the list that its person decides from
  if (!deps.guard.believes(call.principal, input.leg)) throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  const read = async (): ReturnType<typeof loadHeld> => {
    const stored = await loadHeld(deps, 'pending', input.memory_id, call);
    if (!isOwn(stored.record, call)) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
    return stored;
  };
  return carryOut(deps, turns, input, call, read, {
    approve: (record, head) => deps.guard.acknowledge(record, head, call.principal, input),
    consentTo: (proposal) => deps.guard.consentTo(proposal, call.principal, input),
    tierOf: (head) => deps.guard.acknowledgedTier(head, input.seen),
    rejected: 'its user said no when the client asked',
  });
}

function asksOf(record: MemoryRecord): HeldBack['asks'] {
  if (record.reason === ASKS_TO_INVALIDATE) return 'invalidate';
  if (record.reason === ASKS_TO_SHARE) return 'share';
  return proposedTo(record) === undefined ? 'write' : 'update';
}

/** Of the same person, actor and client; a refreshed token is the same. */
function isOwn({ owner, created_by }: MemoryRecord, { principal }: CallContext): boolean {
  return owner === principal.owner && canonicalJson(created_by) === canonicalJson(writerOf(principal));
}
