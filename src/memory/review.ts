/** Confirmations and quarantine: what the guard held back, shown to a person as it stands, and their decision, bound to what they saw. */
import { isoTime } from '../domain/clock.ts';
import { PENDING_LIFE_MS, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { ReviewAnswer, ReviewInput, ReviewListAnswer, ReviewListInput } from '../domain/wire/review.ts';
import type { Admitted } from '../domain/sealed.ts';
import type { Filter } from '../domain/wire/common.ts';
import { HindsightError } from '../errors.ts';
import type { Consent } from '../guard/admission.ts';
import { standingFor } from '../guard/confirmation.ts';
import { applyProposal, proposedTo } from './apply-proposal.ts';
import { decideOnStored, isOpenTo } from './confirm-stored.ts';
import { followClaims } from './conflicts/follow.ts';
import { LEASE_MS } from './conflicts/standings.ts';
import { takeSlot, type TakenSlot } from './conflicts/take-slot.ts';
import { openCursor, signCursor } from './cursor.ts';
import { loadDecidable, loadHeld, startingWith } from './decidable.ts';
import { approvedAnswer } from './decided.ts';
import type { MemoryDeps } from './deps.ts';
import { returnWithParents } from './derived.ts';
import type { CallContext, ReviewState } from './gateway.ts';
import { writerOf } from './record.ts';
import { relinked } from './relinked.ts';
import { contentHash, reviewItemOf } from './review-item.ts';
import { makeVisible } from './visible.ts';
import type { TurnLinks } from './turn-links.ts';
import { compareAndSet, keepVersion } from './versions.ts';
import { trustOf } from './view.ts';

const DEFAULT_LIMIT = 50;

/**
 * What waits in this state and is the caller's to decide on, newest first: their own memories, and with memory:admin the shared ones. With
 * `memory_id` that one alone, and of `pending` also an active memory that they may confirm; nothing tells a foreign id from an absent one.
 * Failures: ERR_ACTOR_FORBIDDEN for agents and services, ERR_CURSOR_INVALID.
 */
export async function listForReview(
  deps: MemoryDeps,
  state: ReviewState,
  input: ReviewListInput,
  call: CallContext,
): Promise<Omit<ReviewListAnswer, 'trace_id'>> {
  const { principal } = call;
  onlyPeople(call);
  const { memory_id: memoryId } = input;
  if (memoryId !== undefined) {
    const record = await foundOrNot(() => loadDecidable(deps, state, memoryId, call));
    const shown = record !== undefined && (record.status === state || isOpenTo(principal, record));
    return { items: shown ? [itemFor(call)(record)] : [], next_cursor: null };
  }
  const bound = { review: state };
  const after = input.cursor === undefined ? undefined : openCursor(input.cursor, deps.keys.cursor, principal, bound);
  const links = principal.scopes.has('memory:admin') ? {} : { links: { owner: [principal.owner] } };
  const by = deps.guard.scope(
    { filter: recent(state, deps.clock()), ...links, limit: input.limit ?? DEFAULT_LIMIT, after },
    { principal, action: 'read', reach: 'granted', statuses: [state], nowMs: deps.clock() },
  );
  await makeVisible(deps, principal.tenant);
  // as stored: a person judges the very text, so no envelope stands around it
  const { items, next } = await deps.guard.screenList(await deps.index.list(by), by, { raw: true });
  return {
    items: items.map(({ value }) => itemFor(call)(value)),
    next_cursor: next === undefined ? null : signCursor(next, deps.keys.cursor, principal, bound),
  };
}

/**
 * Carries out a person's decision. Approved, the memory is active and user_confirmed, and a proposal changes the memory it was made to;
 * rejected, it ends. Where nothing waits under this id, `pending` also takes a decision about an active memory (confirm-stored.ts).
 * Failures: ERR_ACTOR_FORBIDDEN, ERR_MEMORY_NOT_FOUND when nothing in this state is the caller's to decide on, ERR_REVIEW_CHANGED when the
 * texts are not those that were shown, ERR_VERSION_CONFLICT.
 */
export async function decide(
  deps: MemoryDeps,
  turns: TurnLinks,
  state: ReviewState,
  input: ReviewInput,
  call: CallContext,
): Promise<Omit<ReviewAnswer, 'trace_id'>> {
  onlyPeople(call);
  const first = await loadDecidable(deps, state, input.memory_id, call);
  if (first.record.status === 'active') return decideOnStored(deps, turns, input, call, first);
  const read = startingWith(first, () => loadHeld(deps, state, input.memory_id, call));
  return carryOut(deps, turns, input, call, read, {
    approve: (record, head) => deps.guard.confirm(record, head, call.principal),
    consentTo: (proposal) => deps.guard.consentTo(proposal, call.principal, 'decision'),
    tierOf: () => deps.guard.confirmedTier,
    rejected: 'rejected by a person',
  });
}

/** What an approval makes of a record, and why one is rejected. */
export interface Consequence {
  approve(record: MemoryRecord, head: MemoryRecord): Admitted<MemoryRecord>;
  /** Leave for the texts of a proposal, whose approval changes the memory it was made to. */
  consentTo(proposal: MemoryRecord): Consent;
  /** Tier that `approve` sets. */
  tierOf(head: MemoryRecord): number;
  readonly rejected: string;
}

/**
 * The decision on what `read` loads, if its texts are those that were shown; taken once, because the record then waits no longer.
 * Failures: what `read` throws, ERR_REVIEW_CHANGED, ERR_VERSION_CONFLICT.
 */
export async function carryOut(
  deps: MemoryDeps,
  turns: TurnLinks,
  input: ReviewInput,
  call: CallContext,
  read: () => Promise<StoredRecord>,
  consequence: Consequence,
): Promise<Omit<ReviewAnswer, 'trace_id'>> {
  const answer = await compareAndSet<Omit<ReviewAnswer, 'trace_id'>>(read, async ({ record: head, at }) => {
    if (contentHash(head) !== input.content_hash) throw new HindsightError('ERR_REVIEW_CHANGED');
    const nowIso = isoTime(deps.clock());
    const changed = { version: head.version + 1, updated_at: nowIso, valid_from: nowIso, created_by: writerOf(call.principal) };
    const approved = input.decision === 'approve';
    if (approved && proposedTo(head) !== undefined) {
      const done = await applyProposal(deps, turns, call, { record: head, at }, changed, consequence.consentTo(head));
      return done === 'conflict' ? done : { done };
    }
    const sealed = approved
      ? consequence.approve({ ...(await relinked(deps, turns, head, consequence.tierOf(head))), ...changed }, head)
      : deps.guard.readmit({ ...head, ...changed, status: 'rejected', reason: consequence.rejected, spaces_due: [] }, head);
    await keepVersion(deps, head, nowIso);
    if ((await deps.index.replace(sealed, at)) === 'conflict') return 'conflict';
    // the turns after it borrowed nothing while it was held back
    const active = { ...head, ...changed, status: 'active' as const, trust_tier: consequence.tierOf(head) };
    if (approved) await turns.settle([active], []);
    await followClaims(deps, [head], approved ? [active] : []);
    const taken: TakenSlot = approved ? await takeSlot(deps, turns, call, active, { patienceMs: LEASE_MS, waited: true }) : {};
    if (approved && taken.ended === undefined) await returnWithParents(deps, turns, changed.created_by, [active]);
    if (approved) return { done: approvedAnswer(head, changed.version, consequence.tierOf(head), taken) };
    return { done: { memory_id: head.memory_id, outcome: 'rejected', status: 'rejected', version: changed.version, trust: trustOf(head) } };
  });
  await deps.dirty.mark(call.principal.tenant);
  deps.nudge(call.principal.tenant);
  return answer;
}

async function foundOrNot(load: () => Promise<StoredRecord>): Promise<MemoryRecord | undefined> {
  try {
    return (await load()).record;
  } catch (error) {
    if (error instanceof HindsightError && error.code === 'ERR_MEMORY_NOT_FOUND') return undefined;
    throw error;
  }
}

const itemFor =
  ({ principal }: CallContext) =>
  (record: MemoryRecord) =>
    reviewItemOf(record, standingFor(record, principal.owner));

function recent(state: ReviewState, nowMs: number): Filter {
  return state === 'pending' ? { created: { gte: isoTime(nowMs - PENDING_LIFE_MS) } } : {};
}

function onlyPeople({ principal }: CallContext): void {
  if (principal.actor !== 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
}
