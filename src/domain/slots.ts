/** Claims: documents of a tenant's slots index that say whose a text or a slot is before its memory is stored, and stay the truth about it. */
import type { SeqNo } from './memory.ts';

/** One claim; dates are ISO 8601 UTC. */
export interface SlotDocument {
  /** `slot`: a subject and topic that hold one value; `fingerprint`: a text that is stored once. */
  readonly slot_type: 'slot' | 'fingerprint';
  readonly tenant: string;
  readonly namespace: string;
  readonly generation: number;
  /** Owner of private memories, `shared` for shared ones. */
  readonly owner: string;
  readonly subject?: string;
  readonly topic?: string;
  /** What the claimed memory says, as memory/conflicts/keys spells it: a memory that says something else by now holds the claim no more. */
  readonly fingerprint?: string;
  readonly memory_id: string;
  /** The memory that this one takes the place of, until that one is marked. */
  readonly previous_id?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Until then a memory that is not there yet is on its way. */
  readonly lease_until: string;
}

export interface SlotClaim {
  readonly id: string;
  readonly document: SlotDocument;
}

/** A claim as it stands, with its position. */
export interface HeldSlot extends SlotClaim {
  readonly at: SeqNo;
}
