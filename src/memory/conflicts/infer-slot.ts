/** Which slot a memory fills: who it is about and which of their attributes it tells; given by the caller, or read from the sentence. */
import type { Kind } from '../../domain/memory.ts';
import { canonicalTopic, folded, type RelationPolicy } from './relation-policy.ts';

/** What a slot is read from. */
export interface SlotText {
  readonly content: string;
  readonly subject?: string | undefined;
  readonly topic?: string | undefined;
  readonly kind?: Kind | undefined;
}

/** Folded names; `topic` is the canonical one. */
export interface InferredSlot {
  readonly subject: string;
  readonly topic: string;
  readonly from: 'given' | 'inferred';
  /** Several values stand side by side: a new one supersedes none. */
  readonly multiValued: boolean;
}

/** The slot of a preference, fact or constraint; undefined when there is none or it is unsure. Pure. */
export function inferSlot(item: SlotText, policy: RelationPolicy): InferredSlot | undefined {
  if (item.kind !== undefined && !policy.kinds.has(item.kind)) return undefined;
  if (item.subject === undefined || item.topic === undefined) return undefined;
  const topic = canonicalTopic(policy, item.topic);
  return { subject: folded(item.subject), topic, from: 'given', multiValued: policy.multiValued.has(topic) };
}
