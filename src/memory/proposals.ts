/** Proposals: changes kept as candidates beside a memory that their caller may not change; memory_update makes them, and they end with their head. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord, Status, StoredRecord } from '../domain/memory.ts';
import type { UpdateAnswer } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import type { MemoryDraft } from '../guard/admission.ts';
import type { MemoryDeps } from './deps.ts';
import { changedFields } from './diff.ts';
import type { CallContext } from './gateway.ts';
import { resealed } from './masking.ts';
import { dueSpaces, eventAt, writerOf } from './record.ts';
import { byPlace, serviceReads, type Place } from './service-reads.ts';
import { linkedTo } from './turn-context.ts';
import { keepVersion, MAX_CAS_TRIES, withoutVectors } from './versions.ts';

type Answer = Omit<UpdateAnswer, 'trace_id'>;

export const BLOCKED = 'the guard does not let this in';
/** What a proposal wants beside new texts, as its `reason`. */
export const ASKS_TO_INVALIDATE = 'asks to invalidate';
export const ASKS_TO_SHARE = 'asks to share';
type EndDeps = Pick<MemoryDeps, 'index' | 'guard' | 'dirty' | 'clock'>;
/** Whoever ends them: a caller, or a job. */
type Ender = Pick<CallContext, 'principal'>;

/** Statuses of a proposal nobody has decided on. */
const OPEN: readonly Status[] = ['candidate', 'pending', 'quarantined'];

/**
 * A candidate beside the head, linked by conflict_with: the head stays as it is (guard.md, an update below the record's tier). The same
 * proposal again is told by its id and answered `duplicate`. It is seen by no more people than the head is.
 * @throws ERR_MEMORY_NOT_FOUND when the head was withdrawn in the same moment.
 */
export async function propose(
  deps: MemoryDeps,
  call: CallContext,
  head: MemoryRecord,
  next: MemoryRecord,
  nowIso: string,
  unmasked?: Partial<MemoryDraft>,
): Promise<Answer> {
  const {
    superseded_by: _by,
    supersedes: _of,
    next_turn_id: _next,
    valid_to: _to,
    sealed: _sealed,
    key_id: _key,
    ...rest
  } = withoutVectors(next);
  const candidate_id = proposalId(call, head, next, unmasked !== undefined);
  const draft: MemoryDraft = {
    // Of the turn before it borrows nothing: it is no turn of the conversation.
    ...linkedTo(rest, undefined),
    ...(await resealed(deps, next, candidate_id)),
    memory_id: candidate_id,
    owner: call.principal.owner,
    created_by: writerOf(call.principal),
    visibility: head.visibility === 'shared' ? next.visibility : 'private',
    created_at: nowIso,
    updated_at: nowIso,
    valid_from: nowIso,
    event_at: eventAt(next.occurred_at, nowIso),
    spaces_due: dueSpaces(deps, next),
    status: 'candidate',
    version: 1,
    conflict_with: [head.memory_id],
    reason: reasonOf(head, next),
  };
  const { record, sealed, mark } = await deps.guard.admit(draft, {
    principal: call.principal,
    parents: [head],
    ...(unmasked === undefined ? {} : { unmasked }),
  });
  const guard = { ...mark, rule_ids: [...mark.rule_ids] };
  const answer = { memory_id: head.memory_id, version: head.version, guard };
  if (record === undefined || sealed === undefined) return { ...answer, outcome: 'blocked', reason: BLOCKED };
  const { outcome } = await deps.index.create(sealed);
  await deps.dirty.mark(head.tenant);
  await endIfHeadEnded(deps, call, head, record);
  const made = { ...answer, candidate_id };
  if (outcome === 'exists') return { ...made, outcome: 'duplicate', reason: 'the same change has been proposed before' };
  if (record.status === 'quarantined' || record.status === 'pending')
    return { ...made, outcome: record.status, reason: 'the change is held back until a person has decided' };
  const because = head.owner === call.principal.owner ? 'more trusted than this caller' : 'somebody else’s';
  return { ...made, outcome: 'conflict', reason: `the memory is ${because}; the change is kept as a candidate` };
}

/**
 * Ends the open proposals to these heads that `which` picks, copies kept as in forgetting: before the heads go, so that none outlives its
 * head, and after, for those made in the same moment.
 */
export async function withdrawProposals(
  deps: EndDeps,
  call: Ender,
  heads: readonly MemoryRecord[],
  which: (proposal: MemoryRecord) => boolean,
): Promise<void> {
  const reads = serviceReads(deps);
  for (const group of byPlace(heads)) {
    const [place] = group;
    if (place === undefined) continue;
    const ids = new Set(group.map((head) => head.memory_id));
    const isProposal = (record: MemoryRecord): boolean =>
      OPEN.includes(record.status) &&
      record.legal_hold !== true &&
      (record.conflict_with ?? []).some((id) => ids.has(id) && (record.parents ?? []).includes(id)) &&
      which(record);
    const found = (await reads.find(place, { conflict_with: [...ids] })).filter(isProposal);
    await end(deps, call, place, found, isProposal);
  }
}

async function end(
  deps: EndDeps,
  call: Ender,
  place: Place,
  proposals: readonly MemoryRecord[],
  stillFits: (record: MemoryRecord) => boolean,
): Promise<void> {
  const reads = serviceReads(deps);
  let open = proposals.map((record) => record.memory_id);
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt === MAX_CAS_TRIES) throw new HindsightError('ERR_VERSION_CONFLICT');
    const stored = (await reads.load(place, open)).filter(({ record }) => stillFits(record));
    const nowIso = isoTime(deps.clock());
    for (const { record } of stored) await keepVersion(deps, record, nowIso);
    const outcomes = await deps.index.patchMany(
      place.tenant,
      stored.map(({ record, at }) => ({ memoryId: record.memory_id, patch: ended(call, record, nowIso), at })),
    );
    if (outcomes.some((outcome) => outcome === 'away')) throw new HindsightError('ERR_STORE_UNAVAILABLE');
    if (outcomes.some((outcome) => outcome === 'refused')) throw new HindsightError('ERR_STORE_REJECTED');
    open = idsWith(stored, outcomes, 'conflict');
    if (outcomes.includes('replaced')) await deps.dirty.mark(place.tenant);
  }
}

function ended(call: Ender, record: MemoryRecord, nowIso: string) {
  return {
    status: 'forgotten',
    reason: 'the memory it would have changed was withdrawn',
    version: record.version + 1,
    updated_at: nowIso,
    valid_from: nowIso,
    created_by: writerOf(call.principal),
    spaces_due: [],
  } as const;
}

function idsWith(stored: readonly StoredRecord[], outcomes: readonly string[], wanted: string): string[] {
  return stored.filter((_, i) => outcomes[i] === wanted).map(({ record }) => record.memory_id);
}

/** The head may have gone, or become private, while the proposal was made. */
async function endIfHeadEnded(deps: MemoryDeps, call: CallContext, head: MemoryRecord, proposal: MemoryRecord): Promise<void> {
  const [now] = await serviceReads(deps).load(head, [head.memory_id]);
  const gone = now === undefined || (now.record.status !== head.status && !['active', 'conflict'].includes(now.record.status));
  const hidden = now?.record.visibility === 'private' && proposal.visibility === 'shared';
  if (!gone && !hidden) return;
  await end(deps, call, proposal, [proposal], (record) => OPEN.includes(record.status));
  throw new HindsightError('ERR_MEMORY_NOT_FOUND');
}

/**
 * Made from the head, its version, the caller and what changes, so that a proposal repeated is the same document: in the form of a UUIDv7
 * with the head's own time, which makes it sort beside its head.
 */
function proposalId({ principal }: CallContext, head: MemoryRecord, next: MemoryRecord, withValues: boolean): string {
  const change = changedFields(head, next).map((field) => [field, next[field] ?? null]);
  // two values may have one mark; and whether a value is the one that is masked already must not show in the id
  const values = withValues ? [next.masked ?? []] : [];
  const text = canonicalJson([head.tenant, head.memory_id, head.version, principal.owner, principal.actor, change, ...values]);
  const hash = createHash('sha256').update(text).digest('hex');
  const variant = '89ab'.charAt(Number.parseInt(hash.charAt(3), 16) % 4);
  return `${head.memory_id.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(8, 20)}`;
}

function reasonOf(head: MemoryRecord, next: MemoryRecord): string {
  if (next.status === 'superseded' && head.status !== 'superseded') return ASKS_TO_INVALIDATE;
  return next.visibility === 'shared' && head.visibility === 'private' ? ASKS_TO_SHARE : 'asks to correct';
}
