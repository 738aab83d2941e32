/** Replaces a head by its next version: copy first, what borrows from it cut loose, proposals ended; memory_update and memory_restore end here. */
import { DEFAULT_STATUSES, SEARCHABLE_STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { Admitted } from '../domain/sealed.ts';
import { followClaims } from './conflicts/follow.ts';
import { LEASE_MS } from './conflicts/standings.ts';
import { takeSlot } from './conflicts/take-slot.ts';
import { slotKey } from './conflicts/keys.ts';
import type { MemoryDeps } from './deps.ts';
import { leaveWithChange, returnWithParents } from './derived.ts';
import type { CallContext } from './gateway.ts';
import { withdrawProposals } from './proposals.ts';
import { writerOf } from './record.ts';
import type { TurnLinks } from './turn-links.ts';
import { keepVersion } from './versions.ts';

/** What decides which words a turn lends, and to whom. */
const LENT_FIELDS = ['content', 'status', 'visibility', 'trust_tier'] as const satisfies readonly (keyof MemoryRecord)[];

/** What decides which text a memory claims, and which slot. */
const CLAIMED_FIELDS = ['fingerprint', 'status', 'visibility', 'occurred_at'] as const satisfies readonly (keyof MemoryRecord)[];

/**
 * First the copy, then the head: a crash in between leaves one harmless copy, never a lost version. `record` is what `sealed` holds.
 * 'conflict' when the head moved meanwhile: nothing but the copy was stored. ERR_STORE_*, ERR_VERSION_CONFLICT.
 */
export async function replaceHead(
  deps: MemoryDeps,
  turns: TurnLinks,
  call: CallContext,
  { record: head, at }: StoredRecord,
  { record, sealed }: { readonly record: MemoryRecord; readonly sealed: Admitted<MemoryRecord> },
): Promise<'replaced' | 'conflict'> {
  await keepVersion(deps, head, record.valid_from);
  const lent = LENT_FIELDS.some((field) => record[field] !== head[field]);
  // The turns after it lose its words before it changes and get the new ones once they stand: no crash leaves them old ones.
  const detached = lent ? await turns.detach([head]) : [];
  const withdrawn = withdrawnBy(head, record);
  if (withdrawn !== undefined) await withdrawProposals(deps, call, [head], withdrawn);
  const writer = writerOf(call.principal);
  await leaveWithChange(deps, turns, writer, head, record);
  if ((await deps.index.replace(sealed, at)) === 'conflict') {
    // what left for nothing comes back, or leaves again with the next try
    if (takesAway(head, record)) await returnWithParents(deps, turns, writer, [head]);
    return 'conflict';
  }
  if (lent) await turns.settle([record], detached);
  if (withdrawn !== undefined) await withdrawProposals(deps, call, [head], withdrawn);
  if (CLAIMED_FIELDS.some((field) => record[field] !== head[field])) await followClaims(deps, [head], [record]);
  if (takesAway(record, head)) await returnWithParents(deps, turns, writer, [record]);
  const filled = (one: MemoryRecord): string | undefined => slotKey(one, deps.relations)?.id;
  if (record.status === 'active' && (head.status !== 'active' || filled(head) !== filled(record)))
    await takeSlot(deps, turns, call, record, { patienceMs: LEASE_MS });
  return 'replaced';
}

/** Whether a memory that stands like `from` shows more than one that stands like `to`. */
function takesAway(from: MemoryRecord, to: MemoryRecord): boolean {
  if (!DEFAULT_STATUSES.includes(from.status)) return false;
  return !SEARCHABLE_STATUSES.includes(to.status) || (from.visibility === 'shared' && to.visibility === 'private');
}

/** Which open proposals end with this change: all when the memory no longer holds, those others can see when it becomes private. */
function withdrawnBy(head: MemoryRecord, record: MemoryRecord): ((proposal: MemoryRecord) => boolean) | undefined {
  if (record.status !== head.status) return () => true;
  if (record.visibility === 'private' && head.visibility === 'shared') return (proposal) => proposal.visibility === 'shared';
  return undefined;
}
