/** Claims follow their memories: what one does not say any more is free, what it says now is its own where nobody else says it. Forget, update and review call it once the head stands. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { MemoryDeps } from '../deps.ts';
import { claimsOf } from './standings.ts';
import { printId, slotKey } from './keys.ts';

type Deps = Pick<MemoryDeps, 'slots' | 'relations' | 'clock'>;

/**
 * `before`: heads as they were, of one tenant; `after`: as they are now, where they still stand. Never throws: a claim whose memory has
 * ended or says something else is free for the next who asks, released or not.
 */
export async function followClaims(deps: Deps, before: readonly MemoryRecord[], after: readonly MemoryRecord[] = []): Promise<void> {
  const [first] = before;
  if (first === undefined) return;
  const idsOf = (record: MemoryRecord): readonly string[] =>
    [printId(record, deps.relations), slotKey(record, deps.relations)?.id].flatMap((id) => id ?? []);
  const [had, kept] = [new Set(before.flatMap(idsOf)), new Set(after.flatMap(idsOf))];
  const left = before.flatMap((record) => idsOf(record).flatMap((id) => (kept.has(id) ? [] : [{ id, memoryId: record.memory_id }])));
  const nowMs = deps.clock();
  const gained = after.flatMap((record) => {
    const { print, slot } = claimsOf(record, deps.relations, nowMs);
    return [print, slot].flatMap((claim) => (claim === undefined || had.has(claim.id) ? [] : [claim]));
  });
  try {
    if (left.length > 0) await deps.slots.release(first.tenant, left);
    if (gained.length > 0) await deps.slots.claim(first.tenant, gained);
  } catch {
    // the memory itself stands: its call must not look failed
  }
}
