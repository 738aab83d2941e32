/** How a newer memory relates to an older one, read from the two texts alone: the one decision that merging and superseding go by. */
import type { Language } from '../../domain/memory.ts';
import { claimKey, wordsOf } from '../../guard/screening/near-duplicates.ts';
import { inferSlot, type SlotText } from './infer-slot.ts';
import type { RelationPolicy } from './relation-policy.ts';

/** One of two memories that are compared; the fields of a record. */
export interface ComparedText extends SlotText {
  readonly language?: Language | undefined;
  /** Of the newer text: its similarity to the older, 0..1 on the calibrated scale of the vector space; absent where no vector tells. */
  readonly similarity?: number | undefined;
}

/**
 * same: one says no more than the other; changed: the same single-valued slot has a new value; retracted: the newer says that the older no
 * longer holds; adds: one more value of a slot with several; unsure: they may contradict each other, both stay; different: neither.
 */
export interface Relation {
  readonly kind: 'same' | 'changed' | 'retracted' | 'adds' | 'unsure' | 'different';
  /** One short sentence part for the record's `reason`; never quotes the texts. */
  readonly reason: string;
}

/** Pure and deterministic; never throws. `same` and `different` are symmetric. */
export function relationOf(older: ComparedText, newer: ComparedText, policy: RelationPolicy): Relation {
  if (claimKey(wordsOf(older.content)) === claimKey(wordsOf(newer.content))) {
    return (older.subject ?? '') === (newer.subject ?? '')
      ? { kind: 'same', reason: 'the same words' }
      : { kind: 'different', reason: 'of another subject' };
  }
  const [before, after] = [inferSlot(older, policy), inferSlot(newer, policy)];
  if (before === undefined || after === undefined || before.subject !== after.subject || before.topic !== after.topic)
    return { kind: 'different', reason: 'not of the same slot' };
  return after.multiValued
    ? { kind: 'adds', reason: 'one more value of a topic with several' }
    : { kind: 'changed', reason: 'a new value of the same topic' };
}
