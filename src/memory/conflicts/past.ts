/** Earlier values: what was true before the memory that holds its place is stored as history at once; against and the embed job tell by it who comes first. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { bringsTags } from '../../guard/unite.ts';
import { byPlace, type ServiceReads } from '../service-reads.ts';
import { printOf, viewOf } from './keys.ts';
import type { RelationPolicy } from './relation-policy.ts';

const DAY_MS = 86_400_000;

/**
 * Whether what the record tells of was over before the other one's time (`event_at`); a midnight, UTC, stands for its whole day. One that
 * says nothing of when it happened never is: clocks of two processes differ.
 */
export function isEarlier(record: MemoryRecord, other: MemoryRecord): boolean {
  if (record.occurred_at === undefined) return false;
  const atMs = Date.parse(record.event_at);
  return (atMs % DAY_MS === 0 ? atMs + DAY_MS - 1 : atMs) < Date.parse(other.event_at);
}

/** What was true first is the older; of one time, or without one, what was stored first: a later change of a mark says nothing. */
export function inOrder(a: MemoryRecord, b: MemoryRecord): readonly [MemoryRecord, MemoryRecord] {
  if (isEarlier(a, b)) return [a, b];
  if (isEarlier(b, a)) return [b, a];
  const order = a.created_at === b.created_at ? a.memory_id < b.memory_id : a.created_at < b.created_at;
  return order ? [a, b] : [b, a];
}

/** Whether a record tells what the stored one told, in the same words, and adds nothing to it: of one owner, turn and time, no more trusted. */
export function isToldWith(stored: MemoryRecord, record: MemoryRecord, policy: RelationPolicy): boolean {
  return (
    stored.memory_id !== record.memory_id &&
    stored.owner === record.owner &&
    stored.generation === record.generation &&
    stored.namespace === record.namespace &&
    viewOf(stored) === viewOf(record) &&
    stored.session_id === record.session_id &&
    stored.turn === record.turn &&
    stored.occurred_at === record.occurred_at &&
    stored.trust_tier >= record.trust_tier &&
    printOf(stored, policy) === printOf(record, policy) &&
    !bringsTags(stored, record)
  );
}

/**
 * Whether that is of the very turn or moment that is written again: a log that is read in once more, and no change back to what was said
 * before, which is another turn. A midnight, UTC, stands for a day, in which one can change one's mind.
 */
export function isSameTurn(stored: MemoryRecord, record: MemoryRecord, policy: RelationPolicy): boolean {
  const { session_id: session, turn, occurred_at: at } = record;
  const isPlaced = session !== undefined && turn !== undefined;
  const isTimed = at !== undefined && Date.parse(at) % DAY_MS !== 0;
  return (isPlaced || isTimed) && isToldWith(stored, record, policy);
}

/** For each of these earlier values the memory of its owner that tells the same of the same time, where one is stored. Errors: ERR_STORE_*. */
export async function knownPasts(
  reads: ServiceReads,
  records: readonly MemoryRecord[],
  policy: RelationPolicy,
): Promise<ReadonlyMap<string, MemoryRecord>> {
  const known = new Map<string, MemoryRecord>();
  for (const group of byPlace(records)) {
    const [place] = group;
    if (place === undefined) continue;
    const found = await reads.find(place, { fingerprint: [...new Set(group.map(({ fingerprint }) => fingerprint))] });
    for (const record of group) {
      const same = found.find((one) => tellsSame(one, record, policy));
      if (same !== undefined) known.set(record.memory_id, same);
    }
  }
  return known;
}

function tellsSame(stored: MemoryRecord, record: MemoryRecord, policy: RelationPolicy): boolean {
  return (
    stored.status === 'superseded' &&
    stored.memory_id !== record.memory_id &&
    stored.owner === record.owner &&
    stored.generation === record.generation &&
    viewOf(stored) === viewOf(record) &&
    stored.occurred_at === record.occurred_at &&
    stored.trust_tier >= record.trust_tier &&
    printOf(stored, policy) === printOf(record, policy) &&
    !bringsTags(stored, record)
  );
}
