/** memory_feedback: what a memory was worth to who used it; moves its rank at once, and its owner's word puts it in doubt. */
import { isoTime } from '../../domain/clock.ts';
import type { KeptFeedback } from '../../domain/feedback.ts';
import { SEARCHABLE_STATUSES, type MemoryRecord, type StoredRecord } from '../../domain/memory.ts';
import { FEEDBACK_IDS, type FeedbackAnswer, type FeedbackInput } from '../../domain/wire/feedback.ts';
import { HindsightError } from '../../errors.ts';
import { tierAgainst } from '../../guard/confirmation.ts';
import { DOUBT } from '../conflicts/meet.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { masked } from '../masking.ts';
import { MAX_CAS_TRIES } from '../versions.ts';
import { drawnOn } from './drawn-on.ts';
import { saysItFails, voted, type Ballot } from './score.ts';

type Answer = Omit<FeedbackAnswer, 'trace_id'>;
type Result = Answer['results'][number];

/** Sidecar documents changed side by side. */
const AT_ONCE = 5;

/**
 * Whoever may read a memory may say what it was worth; each principal counts once a memory, verdict and day, and what less trusted ones say
 * is bounded as a whole.
 * Failures: ERR_MEMORY_NOT_FOUND for an id that is not there or may not be seen, ERR_RECALL_NOT_FOUND when nothing is known of the trace,
 * ERR_VERSION_CONFLICT, ERR_STORE_*.
 */
export async function feedback(deps: MemoryDeps, input: FeedbackInput, call: CallContext): Promise<Answer> {
  const { tenant } = call.principal;
  const ids = await idsOf(deps, input, call);
  const stored = await load(deps, call, ids);
  if (input.trace_id === undefined && stored.length < new Set(ids).size) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  const note = input.note === undefined ? undefined : masked(deps, tenant, { content: input.note }).value.content;
  const results: Result[] = [];
  for (let from = 0; from < stored.length; from += AT_ONCE)
    results.push(...(await Promise.all(stored.slice(from, from + AT_ONCE).map((one) => vote(deps, { ...input, note }, call, one)))));
  if (results.some(({ counted }) => counted)) await deps.dirty.mark(tenant);
  return { results };
}

/** Named, or returned by the searches of the caller's own trace. */
async function idsOf(
  deps: MemoryDeps,
  { memory_ids: named, trace_id: trace }: FeedbackInput,
  call: CallContext,
): Promise<readonly string[]> {
  if (trace === undefined) return named ?? [];
  const returned = await deps.recalls.returned(call.principal.tenant, call.principal.owner, trace);
  if (returned === undefined) throw new HindsightError('ERR_RECALL_NOT_FOUND');
  return returned.slice(0, FEEDBACK_IDS);
}

async function load(deps: MemoryDeps, { principal }: CallContext, memoryIds: readonly string[]): Promise<readonly StoredRecord[]> {
  if (memoryIds.length === 0) return [];
  const by = deps.guard.scope(
    { memoryIds: [...new Set(memoryIds)] },
    { principal, action: 'read', reach: 'granted', statuses: SEARCHABLE_STATUSES, nowMs: deps.clock() },
  );
  return deps.guard.permitted(await deps.index.get(by), by);
}

async function vote(deps: MemoryDeps, input: FeedbackInput, call: CallContext, { record, at }: StoredRecord): Promise<Result> {
  const { principal } = call;
  const { memory_id, tenant } = record;
  if (input.answer !== undefined && !drawnOn(record.content, input.answer))
    return { memory_id, counted: false, reason: 'the answer does not draw on it' };
  const ballot: Ballot = {
    by: `${principal.owner}/${principal.actor}`,
    below: deps.guard.tierOf(principal) < tierAgainst(record, principal.owner),
    verdict: input.verdict,
    nowIso: isoTime(deps.clock()),
    note: input.note,
  };
  let counted = false;
  const kept = await deps.feedback.update(tenant, memory_id, (before) => {
    const after = voted(before, ballot);
    counted = after !== undefined;
    return after;
  });
  const doubt = doubtAfter(record, input, call);
  // said again, it also repairs a head that a crash left without it
  if (kept !== undefined) await mark(deps, call, { record, at }, kept, doubt);
  return {
    memory_id,
    counted,
    ...(counted ? {} : { reason: 'this caller has said so today, or too many others have' }),
    ...((doubt ?? 0) > 0 ? { doubt: DOUBT } : {}),
  };
}

/** The owner as a person knows whether it holds: their word makes a doubt, and takes it away. Undefined: it stays as it is. */
function doubtAfter(record: MemoryRecord, { verdict }: FeedbackInput, { principal }: CallContext): number | undefined {
  if (record.owner !== principal.owner || principal.actor !== 'user') return undefined;
  if (saysItFails(verdict)) return DOUBT;
  return verdict === 'useful' && (record.doubt ?? 0) > 0 ? 0 : undefined;
}

/** What ranking reads stands in the head, as of the next search. */
async function mark(
  deps: MemoryDeps,
  call: CallContext,
  stored: StoredRecord,
  kept: KeptFeedback,
  doubt: number | undefined,
): Promise<void> {
  let now: StoredRecord | undefined = stored;
  let { feedback: counts } = kept;
  for (let attempt = 0; now !== undefined && attempt < MAX_CAS_TRIES; attempt += 1) {
    const { memory_id: memoryId, tenant } = now.record;
    const patch = { feedback: counts, ...(doubt === undefined ? {} : { doubt }) };
    const [outcome] = await deps.index.patchMany(tenant, [{ memoryId, patch, at: now.at }]);
    if (outcome === 'away') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    if (outcome === 'refused') throw new HindsightError('ERR_STORE_REJECTED');
    if (outcome !== 'conflict') return;
    // forgotten meanwhile: there is nothing left to rank
    [now] = await load(deps, call, [memoryId]);
    // somebody voted after this one and was faster: after the head, so that who votes later still meets a conflict
    counts = (await deps.feedback.update(tenant, memoryId, () => undefined))?.feedback ?? counts;
  }
  if (now !== undefined) throw new HindsightError('ERR_VERSION_CONFLICT');
}
