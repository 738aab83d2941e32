/** A memory on its way through the duplicate and conflict checks, and what they make of it; shared by the files of memory/conflicts. */
import type { MemoryRecord, Outcome, StoredRecord } from '../../domain/memory.ts';
import type { RecordRef } from '../../domain/ports.ts';
import type { HeldSlot } from '../../domain/slots.ts';

/** An admitted record; unchecked ones (`admission: keep`) are stored as they are. */
export interface Entry {
  readonly record: MemoryRecord;
  readonly checked: boolean;
}

/** A stored memory that a record meets, with what was read of it where that is fresh. */
export interface MetRef extends RecordRef {
  readonly stored?: StoredRecord;
}

/** How a claim stands for the record that asks for it. */
export type Claimed =
  /** Made now, or by an earlier attempt of the same call. */
  | { readonly state: 'ours'; readonly held: HeldSlot }
  /** Its memory (`former`) has ended or says something else by now, or never came. */
  | { readonly state: 'free'; readonly held: HeldSlot; readonly came: boolean; readonly former?: MemoryRecord }
  /** `head` stands for it; `came`: the memory that the claim names was stored, even where another one has its place by now. */
  | { readonly state: 'held'; readonly held: HeldSlot; readonly head: StoredRecord; readonly came: boolean }
  /** Somebody is about to store it, or it moved this moment. */
  | { readonly state: 'wait' };

/** What becomes of a record, and of those it meets. */
export type Step =
  | {
      readonly do: 'store';
      readonly record: MemoryRecord;
      readonly outcome?: Outcome;
      readonly reason?: string;
      /** Superseded by it. */
      readonly replaces: readonly MetRef[];
      /** Kept beside it, in doubt. */
      readonly doubts: readonly MetRef[];
      /** More trusted, or somebody else's: told of the contradiction. */
      readonly contests: readonly MetRef[];
      /** Its slot, while what it replaces is not marked yet. */
      readonly moved?: HeldSlot;
      /** Ids of the claims that are its own while it is stored. */
      readonly holds?: readonly string[];
    }
  /** The stored memory says it already. */
  | {
      readonly do: 'repeat';
      readonly head: MemoryRecord;
      readonly outcome: Outcome;
      readonly reason: string;
      /** Made for the record, which is not stored: they go to the stored memory. */
      readonly claims?: readonly HeldSlot[];
    }
  /** The stored memory takes it in. */
  | {
      readonly do: 'merge';
      readonly head: StoredRecord;
      readonly outcome: 'merged' | 'duplicate';
      readonly reason: string;
      readonly claims?: readonly HeldSlot[];
    }
  /** A repeat within the batch. */
  | { readonly do: 'follow'; readonly leader: number }
  /** A repeat of the whole call: its memory is stored. */
  | { readonly do: 'done'; readonly head: MemoryRecord }
  | { readonly do: 'wait' };

/** Nothing in the way. */
export function plainly(record: MemoryRecord): Step {
  return { do: 'store', record, replaces: [], doubts: [], contests: [] };
}
