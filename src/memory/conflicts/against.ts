/** What a new memory does to a stored one it meets: repeats it, is taken in by it, takes its place, contradicts it, was true before it, or stands beside it. Pure. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { TIER } from '../../domain/trust.ts';
import { trustedMore } from '../../guard/confirmation.ts';
import { wordsOf } from '../../guard/screening/near-duplicates.ts';
import { bringsOrigin, bringsTags, holdsTags } from '../../guard/unite.ts';
import { filtersOf, slotKey, viewOf } from './keys.ts';
import { distinguish } from './metadata.ts';
import { isEarlier } from './past.ts';
import type { RelationPolicy } from './relation-policy.ts';
import type { Relation } from './relation-kind.ts';
import { relationOf, speaksOfSelf } from './relation.ts';

export interface Meeting {
  readonly does: 'repeat' | 'merge' | 'replace' | 'contest' | 'doubt' | 'past' | 'beside';
  readonly reason: string;
  /** Of a doubted memory that is said again: what it is to that one where something else, not to be moved by it, says otherwise still. */
  readonly otherwise?: Meeting;
}

/** What the writer may do with what is stored. */
export interface Rights {
  /** Administers memories: may take the place of other people's shared ones, as forgetting them. */
  readonly admin: boolean;
  readonly nowMs: number;
}

/** Why a memory is superseded from its first day. */
export const EARLIER = 'an earlier value';

/** A repeat lets a memory that ends live on where less than half of the new life is left. */
const LIFE_SHARE = 0.5;

/**
 * A less trusted memory never takes the place of a more trusted one, and nobody's takes that of somebody else's without memory:admin
 * (guard.md, anomaly and contradiction; forgetting and hiding ask for the same right). Where both stay, the less trusted one is in doubt.
 * What was true before the stored one takes nobody's place and makes nobody doubted.
 */
export function against(head: MemoryRecord, record: MemoryRecord, policy: RelationPolicy, rights: Rights): Meeting {
  if (head.namespace !== record.namespace || viewOf(head) !== viewOf(record)) return { does: 'beside', reason: 'of another view' };
  const { kind, reason } = related(head, record, policy);
  const earlier = isEarlier(record, head);
  const own = head.owner === record.owner;
  const mayReplace = mayTakePlace(head, record, rights);
  const outranks = trustedMore(record, head) > 0;
  const stands = !outranks ? 'contest' : earlier ? 'beside' : 'doubt';
  switch (kind) {
    case 'same':
      return meetingSame(head, record, reason, rights);
    case 'changed':
    case 'retracted':
      if (earlier && own && !outranks) return { does: 'past', reason: EARLIER };
      return { does: mayReplace ? 'replace' : stands, reason };
    case 'unsure':
      return { does: mayReplace ? 'doubt' : stands, reason };
    case 'adds':
    case 'different':
      return { does: 'beside', reason };
  }
}

/** By trust, owner and time: not of what is more trusted, by its own writer either, nor of what is somebody else's, nor of what came later. */
export function mayTakePlace(head: MemoryRecord, record: MemoryRecord, { admin }: Rights): boolean {
  return !isEarlier(record, head) && isAsTrusted(record, head) && (head.owner === record.owner || admin);
}

/** The relation of the texts, as far as what stands around them does not tell them apart. */
export function related(head: MemoryRecord, record: MemoryRecord, policy: RelationPolicy): Relation {
  if (head.owner !== record.owner && speaksOfSelf(record, policy)) return { kind: 'different', reason: 'of another person' };
  const apart = distinguish(head, record, policy);
  if (apart === 'other') return { kind: 'different', reason: 'noted of another one' };
  const relation = relationOf(head, record, policy);
  // what is noted of one customer alone may be an exception to what is said of all
  if (apart === 'partly' && (relation.kind === 'changed' || relation.kind === 'retracted'))
    return { kind: 'unsure', reason: 'noted of one of them alone' };
  if (relation.kind !== 'same') return relation;
  if (marksOf(head) !== marksOf(record)) {
    const [before, after] = [slotKey(head, policy), slotKey(record, policy)];
    return before !== undefined && before.id === after?.id
      ? { kind: 'changed', reason: 'another masked value' }
      : { kind: 'different', reason: 'another masked value' };
  }
  return settingOf(head) === settingOf(record) ? relation : { kind: 'different', reason: 'of another time or place' };
}

/** Two texts that say the same; what is in doubt is believed again when it is said again, as a first saying would be. */
export function meetingSame(head: MemoryRecord, record: MemoryRecord, reason: string, rights: Rights): Meeting {
  const otherwise = meetingRepeat(head, record, reason, rights);
  if (!believesAgain(head, record)) return otherwise;
  const mayReplace = (head.owner === record.owner || rights.admin) && !bringsTags(record, head);
  return { does: mayReplace ? 'replace' : 'beside', reason: 'said again, though it was in doubt', otherwise };
}

/** By trust, and only what stands undoubted itself; what people called wrong or outdated a person has to say. */
function believesAgain(head: MemoryRecord, record: MemoryRecord): boolean {
  const isCalledWrong =
    (head.doubt ?? 0) > 0 && (head.status === 'active' || (head.feedback?.wrong ?? 0) + (head.feedback?.outdated ?? 0) > 0);
  if (!isCalledWrong && head.status !== 'conflict') return false;
  if (record.status !== 'active' || (record.doubt ?? 0) > 0 || isEarlier(record, head)) return false;
  return isAsTrusted(record, head) && (!isCalledWrong || record.trust_tier >= TIER.user_stated);
}

/** What ends is lost to its writer too, for whom their own confirmation counts. */
const isAsTrusted = (record: MemoryRecord, head: MemoryRecord): boolean =>
  record.trust_tier >= head.trust_tier && trustedMore(record, head) >= 0;

function meetingRepeat(head: MemoryRecord, record: MemoryRecord, reason: string, { nowMs }: Rights): Meeting {
  const more = saysMore(record, head);
  const own = head.owner === record.owner;
  const tagged = bringsTags(head, record);
  // what was found by a tag is never lost with it
  // by what is stored: what is united has the lower tier, for its own writer too
  if (record.trust_tier > head.trust_tier)
    return { does: own && !bringsTags(record, head) ? 'replace' : 'beside', reason: 'the same, more trusted' };
  if (record.trust_tier < head.trust_tier) return { does: more || tagged ? 'beside' : 'repeat', reason };
  if (tagged && !(own && holdsTags(head, record))) return { does: 'beside', reason: 'of other tags' };
  if (more) return { does: own && !isMasked(head) && !isMasked(record) ? 'merge' : 'beside', reason };
  if (tagged) return { does: 'merge', reason };
  return { does: bringsOrigin(head, record) || livesLonger(record, head, nowMs) ? 'merge' : 'repeat', reason };
}

/** Whether the new text has words that the stored one lacks. */
export function saysMore(record: MemoryRecord, head: MemoryRecord): boolean {
  return record.fingerprint !== head.fingerprint && wordsOf(record.content).length > wordsOf(head.content).length;
}

/** Whether a repeat gives the memory a longer life than it has left. */
export function livesLonger(record: MemoryRecord, head: MemoryRecord, nowMs: number): boolean {
  if (head.expires_at === undefined) return false;
  if (record.expires_at === undefined) return true;
  return Date.parse(head.expires_at) - nowMs < LIFE_SHARE * (Date.parse(record.expires_at) - nowMs);
}

/** Sealed values belong to one memory id: texts with such are never moved. */
const isMasked = ({ masked }: MemoryRecord): boolean => (masked ?? []).length > 0;

const marksOf = ({ masked }: MemoryRecord): string => [...(masked ?? [])].sort().join();

/** Events are told apart by when and where they happened, everything by its title and by what it is filtered by. */
function settingOf(record: MemoryRecord): string {
  const { layer, title, topic, session_id, task_id, turn, occurred_at } = record;
  const event = layer === 'semantic' ? [] : [session_id, task_id, turn, occurred_at];
  return JSON.stringify([layer === 'semantic', title ?? null, topic ?? null, filtersOf(record), ...event.map((part) => part ?? null)]);
}
