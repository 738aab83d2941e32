/** What a person confirms of memories that are active already: their own, and, for themself, what somebody else wrote where they may read it. */
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import { TIER } from '../domain/trust.ts';
import type { ReviewAnswer, ReviewInput } from '../domain/wire/review.ts';
import { HindsightError } from '../errors.ts';
import { allowsNamespace } from '../gate/access-policy.ts';
import { confirmationBy, confirmedAlsoFor, confirmedFor, confirmedThemself, standingFor, withoutConfirmer } from '../guard/confirmation.ts';
import { loadConfirmable, startingWith } from './decidable.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { contentHash } from './review-item.ts';
import { relinked } from './relinked.ts';
import { writerOf } from './record.ts';
import type { TurnLinks } from './turn-links.ts';
import { compareAndSet, keepVersion } from './versions.ts';
import { trustOf } from './view.ts';

type Bare<T> = Omit<T, 'trace_id'>;

/**
 * Carries out a person's decision about an active memory, `first` as it was just read. Approved by its owner it is user_confirmed; by an admin who did not write it, for
 * all its readers; by any other reader for that reader alone, and the memory stays what it is for everybody else. `reject` takes a
 * reader's own confirmation back.
 * Failures: ERR_MEMORY_NOT_FOUND, also for what is confirmed already, ERR_REVIEW_CHANGED when the texts are not those that were shown, ERR_SCOPE_MISSING, ERR_VERSION_CONFLICT.
 */
export async function decideOnStored(
  deps: MemoryDeps,
  turns: TurnLinks,
  input: ReviewInput,
  call: CallContext,
  first: StoredRecord,
): Promise<Bare<ReviewAnswer>> {
  const { principal } = call;
  const answer = await compareAndSet<Bare<ReviewAnswer>>(
    startingWith(first, () => loadConfirmable(deps, input.memory_id, call)),
    async ({ record: head, at }) => {
      if (contentHash(head) !== input.content_hash) throw new HindsightError('ERR_REVIEW_CHANGED');
      const approves = input.decision === 'approve';
      const forAll = approves && decidesForAll(principal, head);
      // a decision is taken once
      const open = approves ? !stands(head, principal, forAll) : confirmedThemself(head, principal.owner);
      if (!open) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
      const next = forAll ? await raised(deps, turns, head, call) : head;
      const sealed = forAll ? deps.guard.confirm(next, head, principal) : deps.guard.confirmForSelf(head, principal, approves);
      if (forAll) await keepVersion(deps, head, next.valid_from);
      if ((await deps.index.replace(sealed, at)) === 'conflict') return 'conflict';
      const after = decided(deps, next, principal, { forAll, approves });
      if (forAll) await turns.settle([after], []);
      return { done: answerOf(after, principal, approves) };
    },
  );
  await deps.dirty.mark(principal.tenant);
  deps.nudge(principal.tenant);
  return answer;
}

/** Whether there is something for this person to decide: a confirmation that would be new, or one of their own to take back. */
export function isOpenTo(principal: Principal, record: MemoryRecord): boolean {
  return confirmedThemself(record, principal.owner) || !stands(record, principal, decidesForAll(principal, record));
}

/** Their own memory, or, with memory:admin, somebody else's, where they may change what stands there; for themself alone otherwise. */
function decidesForAll(principal: Principal, { owner, namespace }: MemoryRecord): boolean {
  const theirs = owner === principal.owner || principal.scopes.has('memory:admin');
  return theirs && allowsNamespace(principal, 'write', namespace);
}

/** Whether it has been confirmed as widely before: a wider confirmation is never made a narrower one. */
function stands(head: MemoryRecord, { owner }: Principal, forAll: boolean): boolean {
  if (!forAll) return confirmedFor(head, owner);
  const { confirmed_by: by } = head.guard;
  if (head.trust_tier < TIER.user_confirmed) return false;
  return head.trust_tier >= TIER.operator || (by === undefined ? head.owner === owner : by.of_another || by.principal === owner);
}

/** The next version of the head, at the tier that a confirmation gives as far as its turn's words go; the guard alone sets it. */
async function raised(deps: MemoryDeps, turns: TurnLinks, head: MemoryRecord, { principal }: CallContext): Promise<MemoryRecord> {
  const nowIso = isoTime(deps.clock());
  // without a session nothing is borrowed, and its vectors stay
  const linked = head.session_id === undefined ? head : await relinked(deps, turns, head, deps.guard.confirmedTier);
  return { ...linked, version: head.version + 1, updated_at: nowIso, valid_from: nowIso, created_by: writerOf(principal) };
}

/** The record as the guard let it in. */
function decided(
  deps: MemoryDeps,
  next: MemoryRecord,
  principal: Principal,
  { forAll, approves }: { readonly forAll: boolean; readonly approves: boolean },
): MemoryRecord {
  const { guard, owner } = next;
  if (forAll) return { ...next, trust_tier: deps.guard.confirmedTier, guard: { ...guard, confirmed_by: confirmationBy(principal, owner) } };
  return { ...next, guard: approves ? confirmedAlsoFor(guard, principal.owner) : withoutConfirmer(guard, principal.owner) };
}

function answerOf(record: MemoryRecord, { owner }: Principal, approves: boolean): Bare<ReviewAnswer> {
  return {
    memory_id: record.memory_id,
    outcome: approves ? 'approved' : 'rejected',
    status: record.status,
    version: record.version,
    trust: trustOf(record, standingFor(record, owner)),
  };
}
