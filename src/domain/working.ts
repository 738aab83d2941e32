/** What working memory keeps of a session, and in which form; memory/working and redis/working-memory share it. */
import type { MemoryRecord } from './memory.ts';

export const TURN_ROLES = ['user', 'assistant', 'tool', 'system'] as const;
export type TurnRole = (typeof TURN_ROLES)[number];

/** A session is its owner's: the same id of another principal, namespace or tenant is another session. */
export type SessionKey = Readonly<Record<'tenant' | 'namespace' | 'owner' | 'session_id', string>>;

/** The part of the key that a caller names; the rest is the caller. */
export type SessionQuery = Pick<SessionKey, 'namespace' | 'session_id'>;

const MARKS = [
  'memory_id',
  'created_at',
  'created_by',
  'status',
  'trust_tier',
  'taint',
  'origin',
  'guard',
  'masked',
  'language',
  'fingerprint',
] as const satisfies readonly (keyof MemoryRecord)[];

/** What the guard decided about a text, and where that comes from; with the key it makes a record again. */
export type KeptMark = Pick<MemoryRecord, (typeof MARKS)[number]>;

export type KeptTurn = KeptMark & { readonly content: string; readonly role: TurnRole };

/** A top-level member of the task state. */
export type KeptSlot = KeptMark & { readonly name: string; readonly value: unknown };

/** A text that admission did not find worth keeping. */
export type DroppedText = KeptMark & { readonly content: string; readonly reason: string };

/** Numbers of policies/working.yaml. */
export interface WorkingLimits {
  readonly turns: number;
  readonly stateBytes: number;
  readonly slots: number;
  /** Life of turns and state after their last use. */
  readonly ttlMs: number;
  readonly dropped: { readonly entries: number; readonly chars: number; readonly ttlMs: number };
  readonly returned: { readonly fingerprints: number; readonly ttlMs: number };
  /** Bounds of all sessions together where there is no Redis. */
  readonly inProcess: { readonly sessions: number; readonly bytes: number };
}

export function markOf(record: MemoryRecord): KeptMark {
  return Object.fromEntries(MARKS.flatMap((field) => (record[field] === undefined ? [] : [[field, record[field]]]))) as unknown as KeptMark;
}

/** The record that a kept text stands for, for the guard's screen. Its texts are `content` and what is given besides. */
export function recordOf(
  kept: KeptMark & { readonly content: string },
  session: SessionKey,
  more: Pick<MemoryRecord, 'tags'> = {},
): MemoryRecord {
  const { created_at: createdAt } = kept;
  return {
    ...markOf(kept as unknown as MemoryRecord),
    ...session,
    ...more,
    content: kept.content,
    doc_type: 'memory',
    generation: 0,
    visibility: 'private',
    layer: 'working',
    version: 1,
    updated_at: createdAt,
    valid_from: createdAt,
    event_at: createdAt,
  };
}

/** @throws TypeError for a record that names no session: such a one is never admitted for working memory. */
export function sessionOf({ tenant, namespace, owner, session_id: session }: MemoryRecord): SessionKey {
  if (session === undefined) throw new TypeError('working memory takes records of a session');
  return { tenant, namespace, owner, session_id: session };
}

/** Bytes of a slot in the JSON of the state: `"name":value,`. */
export function slotBytes(name: string, value: unknown): number {
  return Buffer.byteLength(JSON.stringify(name)) + Buffer.byteLength(JSON.stringify(value)) + 2;
}

/** As kept of a dropped text: its beginning where it is long, and no half of a surrogate pair at the cut. */
export function droppedOf(record: MemoryRecord, reason: string, chars: number): DroppedText {
  const content = record.content.slice(0, chars);
  return { ...markOf(record), content: content.isWellFormed() ? content : content.slice(0, -1), reason };
}
