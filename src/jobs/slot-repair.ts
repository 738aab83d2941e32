/** The slot repair: ends moves of slots that a crash left between the slot and the memories it names; run by a worker of its own. */
import type { SlotStore } from '../domain/ports.ts';
import type { HeldSlot } from '../domain/slots.ts';
import type { Job } from './worker.ts';

export interface SlotRepairOptions {
  readonly slots: Pick<SlotStore, 'dueTenants' | 'unfinished'>;
  /** Marks what the slot's memory took the place of, or gives the slot back. */
  readonly repair: (slot: HeldSlot) => Promise<void>;
  readonly onRepaired?: (tenant: string, count: number) => void;
}

/** Meanwhile two values of one slot are found, the newer first; the next write to the slot ends it as well. */
export const SLOT_REPAIR_MS = 30_000;
/** Each costs a handful of small requests. */
const BATCH = 50;

/** One run repairs a batch of a tenant; a store that is away pauses the worker. What cannot be repaired holds up no other slot, and no other tenant. */
export function createSlotRepairJob({ slots, repair, onRepaired }: SlotRepairOptions): Job {
  return {
    name: 'slot-repair',
    due: async () => (await slots.dueTenants()).map(({ tenant }) => tenant),
    run: async (tenant, { signal }) => {
      const left = await slots.unfinished(tenant, BATCH);
      let count = 0;
      const faults: unknown[] = [];
      for (const slot of left) {
        if (signal.aborted) break;
        try {
          await repair(slot);
          count += 1;
        } catch (error) {
          faults.push(error);
        }
      }
      if (count > 0) onRepaired?.(tenant, count);
      if (faults.length > 0) throw faults[0];
      return left.length === BATCH && !signal.aborted ? 'more' : 'idle';
    },
  };
}
