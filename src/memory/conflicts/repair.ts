/** Ends the move of a slot that a crash left half done: the slot is the truth, and the heads follow it (jobs/slot-repair runs it). */
import type { RecordRef } from '../../domain/ports.ts';
import type { HeldSlot } from '../../domain/slots.ts';
import { systemPrincipal } from '../../gate/system-principal.ts';
import type { MemoryDeps } from '../deps.ts';
import { SYSTEM_WRITER } from '../record.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnDeps } from '../turn-context.ts';
import type { TurnLinks } from '../turn-links.ts';
import { settleEnded } from './aftermath.ts';
import { createHeadChange, superseded } from './head-change.ts';
import { movedTo } from './standings.ts';

/**
 * Marks what the slot's memory took the place of; where that memory never came, the slot is its predecessor's again. Errors: ERR_STORE_*.
 */
export function createSlotRepair(
  deps: TurnDeps & Pick<MemoryDeps, 'slots'>,
  turns: Pick<TurnLinks, 'detach' | 'settle'>,
): (slot: HeldSlot) => Promise<void> {
  const reads = serviceReads(deps);
  const change = createHeadChange(deps, turns);
  return async (slot) => {
    const { tenant, namespace, memory_id: id, previous_id: previous } = slot.document;
    if (previous === undefined) return;
    // a search found it: what has moved since is in other hands, and its former memory may have been brought back
    const [now] = await deps.slots.read(tenant, [slot.id]);
    if (now?.at.seq_no !== slot.at.seq_no || now.at.primary_term !== slot.at.primary_term) return;
    // shared memories are everybody's who has the namespace: any owner sees them
    const place = { tenant, namespace, owner: slot.document.owner };
    const [head] = await reads.load(place, [id]);
    if (head === undefined) {
      await deps.slots.move(tenant, [movedTo(slot, { ...slot.document, memory_id: previous })]);
      return;
    }
    const ref: RecordRef = { ...place, memory_id: previous };
    const { ended, head: former } = await superseded(change, ref, id, SYSTEM_WRITER);
    if (!ended) return;
    const by = { principal: { ...systemPrincipal(place), owner: 'system' } };
    if (former !== undefined) await settleEnded(deps, turns, [{ head: former, by }]);
    await deps.slots.move(tenant, [movedTo(slot, slot.document)]);
    await deps.dirty.mark(tenant);
  };
}
