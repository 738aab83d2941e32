/** memory_restore: an earlier version of a memory holds again, or one that was forgotten, archived or superseded comes back; itself a new version, through the guard. */
import { isoTime } from '../domain/clock.ts';
import { SEARCHABLE_STATUSES, STATUSES, type MemoryRecord, type Status, type StoredRecord } from '../domain/memory.ts';
import type { RestoreAnswer, RestoreTarget } from '../domain/wire/restore.ts';
import { HindsightError } from '../errors.ts';
import { sealedTextsOf } from '../guard/sealed-texts.ts';
import { proposedTo } from './apply-proposal.ts';
import type { MemoryDeps } from './deps.ts';
import { parentsStand } from './derived.ts';
import { changedFields } from './diff.ts';
import type { CallContext } from './gateway.ts';
import { loadForChange } from './load.ts';
import { BLOCKED, propose } from './proposals.ts';
import { writerOf } from './record.ts';
import { replaceHead } from './replace-head.ts';
import { restoredDraft } from './restored-draft.ts';
import { returnToSlot } from './restored-slot.ts';
import type { TurnLinks } from './turn-links.ts';
import { compareAndSet } from './versions.ts';

type Answer = Omit<RestoreAnswer, 'trace_id'>;

/** What a memory may stand in for restoring to be about it; the other statuses are decided on elsewhere. */
const RESTORABLE: readonly Status[] = [...SEARCHABLE_STATUSES, 'forgotten'];
const HOLDS: readonly Status[] = ['active', 'conflict'];
/** Held back when it was forgotten: comes back held back. */
const HELD: readonly Status[] = ['candidate', 'pending', 'quarantined'];
const DECIDED_ELSEWHERE = 'it is held back or a proposal: that is decided on by confirming, releasing or updating';

const SUMS_UP_GONE = 'a memory that it sums up is forgotten, held back or private: it comes back with that';

/**
 * Rights are those of forgetting. What today's rules hold back does not come back active; an agent takes back neither what a person ended
 * nor a person's words for other ones (that becomes a proposal, as an update does).
 * Failures: ERR_MEMORY_NOT_FOUND for a memory or a version that is not there or may not be seen, ERR_NAMESPACE_FORBIDDEN,
 * ERR_ACTOR_FORBIDDEN, ERR_PRECONDITION_FAILED when `at` is not the head's version, ERR_VERSION_CONFLICT.
 */
export async function restore(deps: MemoryDeps, turns: TurnLinks, input: RestoreTarget, call: CallContext): Promise<Answer> {
  const answer = await compareAndSet<Answer>(
    () => loadForChange(deps, call, input.memory_id, 'forget', STATUSES),
    (stored) => attempt(deps, turns, input, call, stored),
  );
  if (answer.outcome !== 'unchanged' && answer.outcome !== 'blocked') {
    await deps.dirty.mark(call.principal.tenant);
    deps.nudge(call.principal.tenant);
  }
  return answer;
}

async function attempt(
  deps: MemoryDeps,
  turns: TurnLinks,
  input: RestoreTarget,
  call: CallContext,
  stored: StoredRecord,
): Promise<{ readonly done: Answer } | 'conflict'> {
  const head = stored.record;
  const { memory_id, version } = head;
  if (input.at !== undefined && input.at !== version) throw new HindsightError('ERR_PRECONDITION_FAILED', { params: { version } });
  const unchanged = (reason: string): { readonly done: Answer } => ({ done: { memory_id, outcome: 'unchanged', version, reason } });
  if (!RESTORABLE.includes(head.status) || proposedTo(head) !== undefined) return unchanged(DECIDED_ELSEWHERE);
  const source = await sourceOf(deps, input, call, head);
  if (source === undefined) return unchanged(DECIDED_ELSEWHERE);
  if (head.status === 'forgotten' && head.kind === 'summary' && !(await parentsStand(deps, head))) return unchanged(SUMS_UP_GONE);
  const nowIso = isoTime(deps.clock());
  const draft = restoredDraft(deps, head, source.from, {
    status: source.status,
    version: version + 1,
    updated_at: nowIso,
    valid_from: nowIso,
    created_by: writerOf(call.principal),
    reason: source.from === head ? 'brought back' : `restored from version ${source.from.version}`,
  });
  const proposal = async (): Promise<{ readonly done: Answer }> => {
    const { outcome, ...rest } = await propose(deps, call, head, { ...draft, status: head.status }, nowIso);
    return { done: { ...rest, outcome: outcome === 'updated' ? 'restored' : outcome } };
  };
  const says = changedFields(head, draft).filter((field) => field !== 'reason' && field !== 'status');
  if (says.length === 0 && (head.status === draft.status || HOLDS.includes(head.status))) return unchanged('it says this already');
  if (proposes(deps, head, draft, call)) return proposal();

  const { record, sealed, mark } = await deps.guard.admit(draft, {
    principal: call.principal,
    parents: [],
    previous: head,
    restores: source.from,
  });
  const guard = { ...mark, rule_ids: [...mark.rule_ids] };
  if (record === undefined || sealed === undefined) return { done: { memory_id, outcome: 'blocked', version, reason: BLOCKED, guard } };
  const kept = { ...record, status: stricter(record.status, draft.status) };
  // of a memory that holds, what is held back is a change: the head stays, and the change waits beside it
  if (HELD.includes(kept.status) && HOLDS.includes(head.status)) return proposal();
  const slot = await returnToSlot(deps, turns, kept, call);
  const [linked = slot.record] = await turns.linkAll([slot.record]);
  const next = { record: linked, sealed: deps.guard.readmit(linked, record) };
  if ((await replaceHead(deps, turns, call, stored, next)) === 'conflict') return 'conflict';
  await slot.settle(call);
  const outcome = linked.status === 'active' ? 'restored' : (linked.status as Answer['outcome']);
  return { done: { memory_id, outcome, version: kept.version, restored_version: source.from.version, guard } };
}

/** Whose state comes back, and the most active one it may come back in; undefined when that is for others to decide. */
async function sourceOf(
  deps: MemoryDeps,
  input: RestoreTarget,
  call: CallContext,
  head: MemoryRecord,
): Promise<{ readonly from: MemoryRecord; readonly status: Status } | undefined> {
  const before = head.status === 'forgotten' ? await versionOf(deps, call, head, head.version - 1) : head;
  if (before.status === 'rejected') return undefined;
  if (HELD.includes(before.status)) {
    const asked = input.version ?? before.version;
    return asked === before.version || asked === head.version ? { from: head, status: before.status } : undefined;
  }
  const from = input.version === undefined || input.version === head.version ? head : await versionOf(deps, call, head, input.version);
  if (from === head) return { from, status: 'active' };
  // what was held back then is seen and decided on elsewhere, and of one that was forgotten then the version before it is meant
  if (!SEARCHABLE_STATUSES.includes(from.status) && from.status !== 'candidate') throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  return { from, status: from.status === 'candidate' ? 'candidate' : 'active' };
}

/** A kept copy that the caller might forget. @throws ERR_MEMORY_NOT_FOUND */
async function versionOf(deps: MemoryDeps, call: CallContext, head: MemoryRecord, version: number): Promise<MemoryRecord> {
  const by = deps.guard.scope(
    { memoryId: head.memory_id, version },
    { principal: call.principal, action: 'forget', reach: 'granted', statuses: STATUSES, nowMs: deps.clock() },
  );
  const [copy] = deps.guard.permitted(await deps.index.versions(by), by);
  if (copy === undefined) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  return copy;
}

/**
 * Below the memory's tier other words are a proposal (guard.md, derivation: an update below the record's tier), and where there is no
 * head that holds to propose them to, they are refused, as is taking back what a person ended.
 */
function proposes(deps: MemoryDeps, head: MemoryRecord, draft: MemoryRecord, { principal }: CallContext): boolean {
  const holds = HOLDS.includes(head.status);
  if (!holds && principal.actor === 'agent' && head.created_by.actor === 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  if (deps.guard.tierOf(principal) >= head.trust_tier) return false;
  if (JSON.stringify(sealedTextsOf(draft)) === JSON.stringify(sealedTextsOf(head))) return false;
  if (!holds) throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  return true;
}

/** Of the guard's status and the one that was asked for the one that shows less. */
function stricter(a: Status, b: Status): Status {
  return HELD.indexOf(a) > HELD.indexOf(b) ? a : b;
}
