/** What a comparison of two memories says; shared by the files that compare and those that act on it. */

/**
 * same: one says no more than the other; changed: the same single-valued slot has a new value; retracted: the newer says that the older no
 * longer holds; adds: one more value of a slot with several; unsure: they may contradict each other, both stay; different: neither.
 */
export interface Relation {
  readonly kind: 'same' | 'changed' | 'retracted' | 'adds' | 'unsure' | 'different';
  /** One short sentence part for the record's `reason`; never quotes the texts. */
  readonly reason: string;
}
