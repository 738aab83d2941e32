/** An approved proposal: the change it asked for is made on the memory itself, and the proposal ends; memory/review calls it. */
import { canonicalJson } from '../domain/canonical-json.ts';
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import type { ReviewAnswer } from '../domain/wire/review.ts';
import type { UpdateInput } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import type { Consent } from '../guard/admission.ts';
import { followClaims } from './conflicts/follow.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { ASKS_TO_INVALIDATE, ASKS_TO_SHARE } from './proposals.ts';
import { serviceReads } from './service-reads.ts';
import type { TurnLinks } from './turn-links.ts';
import { update } from './update.ts';
import { keepVersion } from './versions.ts';
import { trustOf } from './view.ts';

/** The memory that a proposal would change; undefined for a memory of its own. */
export function proposedTo(record: MemoryRecord): string | undefined {
  return record.conflict_with?.find((id) => record.parents?.includes(id));
}

/**
 * Makes the change, or, where it is not this caller's to make (somebody else's memory, or one more trusted than the consent), lets the
 * proposal wait beside the memory as a candidate. `changed`: what a decision sets on the proposal's own record.
 * Failures: ERR_MEMORY_NOT_FOUND when the memory is gone, ERR_VERSION_CONFLICT.
 */
export async function applyProposal(
  deps: MemoryDeps,
  turns: TurnLinks,
  call: CallContext,
  { record: proposal, at }: StoredRecord,
  changed: Partial<MemoryRecord>,
  consent: Consent,
): Promise<Omit<ReviewAnswer, 'trace_id'> | 'conflict'> {
  const [target] = await serviceReads(deps).load(proposal, [proposedTo(proposal) ?? '']);
  if (target === undefined) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  const head = target.record;
  const { principal } = call;
  const theirs = head.owner === principal.owner || principal.scopes.has('memory:admin');
  if (!theirs || consent.tier < head.trust_tier) {
    const kept = { ...proposal, ...changed, status: 'candidate' as const };
    await keepVersion(deps, proposal, kept.updated_at);
    if ((await deps.index.replace(deps.guard.readmit(kept, proposal), at)) === 'conflict') return 'conflict';
    return { memory_id: proposal.memory_id, outcome: 'approved', status: 'candidate', version: kept.version, trust: trustOf(proposal) };
  }
  const { version, reason } = await update(deps, turns, changeOf(proposal, head), call, consent, proposal);
  const ended = { ...proposal, ...changed, status: 'superseded' as const, superseded_by: head.memory_id, spaces_due: [] };
  await keepVersion(deps, proposal, ended.updated_at);
  // moved in between: the change itself has ended it already (an invalidated memory takes its proposals along)
  await deps.index.replace(deps.guard.readmit(ended, proposal), at);
  await followClaims(deps, [proposal]);
  // the change may have moved it into a slot that holds a newer value
  const [now] = await serviceReads(deps).load(proposal, [head.memory_id]);
  const { status, superseded_by: by } = now?.record ?? head;
  return {
    memory_id: head.memory_id,
    outcome: 'approved',
    status,
    version,
    ...(by === undefined ? {} : { superseded_by: by }),
    ...(reason === undefined ? {} : { reason }),
    trust: trustOf({ ...head, trust_tier: consent.tier }),
  };
}

const asksToInvalidate = (proposal: MemoryRecord): boolean => proposal.reason === ASKS_TO_INVALIDATE;

/** The proposal as an update of the memory: every field in which they differ. */
function changeOf(proposal: MemoryRecord, head: MemoryRecord): UpdateInput {
  const change: Record<string, unknown> = { memory_id: head.memory_id };
  if (proposal.content !== head.content) change['content'] = proposal.content;
  for (const field of ['summary', 'importance', 'confidence', 'occurred_at', 'expires_at'] as const)
    if (proposal[field] !== head[field]) change[field] = proposal[field] ?? null;
  if (canonicalJson(proposal.tags ?? []) !== canonicalJson(head.tags ?? [])) change['tags'] = [...(proposal.tags ?? [])];
  if (proposal.pinned !== head.pinned) change['pinned'] = proposal.pinned ?? false;
  if (canonicalJson(proposal.metadata ?? {}) !== canonicalJson(head.metadata ?? {})) change['metadata'] = replacing(proposal, head);
  if (proposal.reason === ASKS_TO_SHARE) change['visibility'] = 'shared';
  if (asksToInvalidate(proposal)) change['invalid'] = true;
  return change as unknown as UpdateInput;
}

/** A merge patch (RFC 7396) that leaves the proposal's metadata and nothing else. */
function replacing(proposal: MemoryRecord, head: MemoryRecord): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(Object.keys(head.metadata ?? {}).map((key) => [key, null])), ...proposal.metadata };
}
