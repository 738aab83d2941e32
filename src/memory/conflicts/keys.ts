/** What a memory claims before it is stored: its text, once in a namespace and view, and the single-valued slot it fills. Pure. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { DEFAULT_STATUSES, type MemoryRecord, type Status } from '../../domain/memory.ts';
import { foldCase } from '../../text/case.ts';
import { SELF } from './frames/frame.ts';
import { inferSlot } from './infer-slot.ts';
import { distinctionKey } from './metadata.ts';
import type { RelationPolicy } from './relation-policy.ts';
import { speaksOfSelf } from './relation.ts';

/** Kept back by the guard and not decided on. */
const HELD: readonly Status[] = ['candidate', 'pending', 'quarantined'];

export interface SlotKey {
  readonly id: string;
  readonly subject: string;
  readonly topic: string;
}

/** Private memories are their owner's, shared ones the namespace's. */
export function viewOf({ visibility, owner }: Pick<MemoryRecord, 'visibility' | 'owner'>): string {
  return visibility === 'shared' ? 'shared' : owner;
}

/** What is kept back never stands for what is active, nor the other way round; undefined for what has ended. */
export function standingOf({ status }: Pick<MemoryRecord, 'status'>): 'active' | 'held' | undefined {
  if (DEFAULT_STATUSES.includes(status)) return 'active';
  return HELD.includes(status) ? 'held' : undefined;
}

/**
 * Equal for two memories of which the later one says nothing new: the same words (text/clean) under the same title about the same subject
 * and topic, found by the same filters; of events besides in the same session, task, turn and moment. What people say of themselves in a
 * shared place is each one's own.
 */
export function printOf(record: MemoryRecord, policy: RelationPolicy): string {
  const { fingerprint, title, subject, topic, layer } = record;
  const event = layer === 'semantic' ? [] : [record.session_id, record.task_id, record.turn, record.occurred_at];
  const names = [title, subject, topic].map((name) => (name === undefined ? undefined : foldCase(name.normalize('NFKC').trim())));
  const filters = filtersOf(record);
  const speaker = record.visibility === 'shared' && speaksOfSelf(record, policy) ? [record.owner] : [];
  return hash([fingerprint, ...names, ...event, ...(filters === '{}' ? [] : [filters]), ...speaker]);
}

/** What a search may filter by and a merge would lose, as canonical JSON; tags are united instead. */
export function filtersOf({ domain, task_type, metadata }: MemoryRecord): string {
  return canonicalJson({ domain, task_type, metadata });
}

/** Id of the claim on a memory's text; undefined for one that has ended. */
export function printId(record: MemoryRecord, policy: RelationPolicy): string | undefined {
  const standing = standingOf(record);
  if (standing === undefined) return undefined;
  return hash(['fingerprint', record.namespace, record.generation, viewOf(record), standing, printOf(record, policy)]);
}

/** Slots already read: a record is asked for its own several times on its way, and never changes. */
const known = new WeakMap<RelationPolicy, WeakMap<MemoryRecord, SlotKey | 'none'>>();

/** The slot that an active memory fills; undefined when it fills none, or one that holds several values. */
export function slotKey(record: MemoryRecord, policy: RelationPolicy): SlotKey | undefined {
  const slots = known.get(policy) ?? new WeakMap<MemoryRecord, SlotKey | 'none'>();
  known.set(policy, slots);
  const before = slots.get(record);
  if (before !== undefined) return before === 'none' ? undefined : before;
  const slot = readSlot(record, policy);
  slots.set(record, slot ?? 'none');
  return slot;
}

function readSlot(record: MemoryRecord, policy: RelationPolicy): SlotKey | undefined {
  if (standingOf(record) !== 'active') return undefined;
  const slot = inferSlot(record, policy);
  if (slot === undefined || slot.multiValued) return undefined;
  const { subject, topic } = slot;
  // of two people who say "I live in …" in a shared place each has a slot of their own
  const view = subject === SELF ? record.owner : viewOf(record);
  const apart = distinctionKey(record, policy);
  const parts = ['slot', record.namespace, record.generation, view, subject, topic, ...(apart === '' ? [] : [apart])];
  return { id: hash(parts), subject, topic };
}

/** SHA-256 of the parts as JSON, base64url. */
function hash(parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('base64url');
}
