/** Which slot a memory fills: who it is about and which of their attributes it tells; given by the caller, or read from the sentence. */
import type { Kind } from '../../domain/memory.ts';
import { claimOf } from './claims.ts';
import { isMulti } from './compare-frames.ts';
import type { Frame } from './frames/frame.ts';
import { frameOf } from './frames/read-frame.ts';
import { plainText, sentencesOf } from './plain-text.ts';
import { MAX_COMPARED_CHARS, subjectOf } from './reading.ts';
import { canonicalTopic, folded, isOneOfSeveral, type RelationPolicy } from './relation-policy.ts';

/** What a slot is read from. */
export interface SlotText {
  readonly content: string;
  readonly subject?: string | undefined;
  readonly topic?: string | undefined;
  readonly kind?: Kind | undefined;
}

/** Folded names; `topic` is the canonical one, `subject` is SELF (frames/frame) for the speaker, who is another person for each owner. */
export interface InferredSlot {
  readonly subject: string;
  readonly topic: string;
  readonly from: 'given' | 'inferred';
  /** Several values stand side by side: a new one supersedes none. */
  readonly multiValued: boolean;
}

/** The slot of a preference, fact or constraint; undefined when there is none or it is unsure. Pure. */
export function inferSlot(item: SlotText, policy: RelationPolicy): InferredSlot | undefined {
  if (item.subject !== undefined && item.topic !== undefined) return slotOf(item, undefined, policy);
  const [sentence, ...more] = sentencesOf(plainText(item.content.slice(0, MAX_COMPARED_CHARS)));
  if (sentence === undefined || more.length > 0) return undefined;
  const claim = claimOf(policy.unify(sentence));
  const frame = frameOf(claim, { subject: item.subject, policy });
  // what ends or denies a value fills no slot with one
  return frame === undefined || frame.ended || frame.negated ? undefined : slotOf(item, frame, policy);
}

/** The slot given with the item, else that of the frame its sentence was read as. */
export function slotOf(item: SlotText, frame: Frame | undefined, policy: RelationPolicy): InferredSlot | undefined {
  if (item.kind !== undefined && !policy.kinds.has(item.kind)) return undefined;
  if (item.subject !== undefined && item.topic !== undefined) {
    const topic = canonicalTopic(policy, item.topic);
    const subject = subjectOf(item.subject) ?? folded(item.subject);
    return subject === '' || topic === '' ? undefined : { subject, topic, from: 'given', multiValued: isMulti(topic, policy) };
  }
  if (frame === undefined) return undefined;
  const { topic } = frame;
  const subject = frame.subject === '' && policy.unnamed.has(topic) ? topic : frame.subject;
  if (subject === '' || [subject, topic].some((one) => isOneOfSeveral(policy, one))) return undefined;
  return { subject, topic, from: 'inferred', multiValued: isMulti(topic, policy) };
}
