/** Vector near-duplicates: records that have just got their vectors meet the memories nearest to them; the embed job calls it before they count as settled. */
import { DEFAULT_STATUSES, type MemoryRecord } from '../../domain/memory.ts';
import type { EmbeddedRecord, MeetNearest } from '../../domain/near-duplicates.ts';
import { against } from './against.ts';
import { slotKey } from './keys.ts';
import { refOf } from './meet.ts';
import { inOrder } from './past.ts';
import { cosineOf, nearestOf, type Placed } from './nearest.ts';
import { createPairSettler, mayMeet, type Settled } from './settle-pair.ts';
import type { MemoryDeps } from '../deps.ts';
import type { TurnLinks } from '../turn-links.ts';

export type NearDuplicateDeps = Pick<MemoryDeps, 'index' | 'guard' | 'dirty' | 'embedder' | 'clock' | 'slots' | 'relations'>;

/** Made by a service of what it read: never merged with what it was made of. */
const DERIVED: readonly (string | undefined)[] = ['summary', 'rule', 'trajectory'];

/**
 * One request for the nearest of a batch, in the space that a question in the record's script searches first; those of one batch meet too.
 * The texts decide (against): closeness only says who is compared. Private memories meet their owner's alone.
 */
export function createMeetNearest(
  deps: NearDuplicateDeps,
  turns: Pick<TurnLinks, 'detach' | 'settle'>,
  onSettled: (does: Settled['does']) => void = () => undefined,
): MeetNearest {
  const settle = createPairSettler(deps, turns);

  const place = ({ record, vectors }: EmbeddedRecord): readonly Placed[] => {
    if (!DEFAULT_STATUSES.includes(record.status) || record.admission === 'keep' || DERIVED.includes(record.kind)) return [];
    const [first] = deps.embedder.spacesForQuery(record.content).filter((name) => vectors.has(name));
    const space = deps.embedder.spaces.find(({ name }) => name === first);
    const vector = first === undefined ? undefined : vectors.get(first);
    return space === undefined || vector === undefined ? [] : [{ record, space, vector }];
  };

  /**
   * Of the values of a claimed slot whoever wrote or brought back the one that has it ends the others: nobody else decides between them, but
   * where the slot is at rest and has the newer one, which nobody told the older one of.
   */
  const isLeftToSlot = async (older: MemoryRecord, newer: MemoryRecord): Promise<boolean> => {
    const id = slotKey(older, deps.relations)?.id;
    if (id === undefined || id !== slotKey(newer, deps.relations)?.id) return false;
    const [held] = await deps.slots.read(older.tenant, [id]);
    if (held === undefined) return false;
    const { memory_id: holder, previous_id: before, lease_until: leaseUntil } = held.document;
    return holder !== newer.memory_id || before !== undefined || Date.parse(leaseUntil) > deps.clock();
  };

  return async (tenant, embedded) => {
    const placed = embedded.flatMap(place);
    if (placed.length === 0) return;
    const found = await nearestOf(deps, placed);
    const ended = new Set<string>();
    let changed = false;
    for (const [i, one] of placed.entries()) {
      const within = placed.slice(0, i).filter((other) => isNear(one, other, cosineOf(one.space, deps.relations)));
      for (const other of [...(found[i] ?? []), ...within.map(({ record }) => record)]) {
        if (ended.has(one.record.memory_id) || ended.has(other.memory_id) || DERIVED.includes(other.kind)) continue;
        const [older, newer] = inOrder(one.record, other);
        if (!mayMeet(older, newer)) continue;
        if (against(older, newer, deps.relations, { admin: false, nowMs: deps.clock() }).does === 'beside') continue;
        if (await isLeftToSlot(older, newer)) continue;
        const { does, stands } = await settle(refOf(older), refOf(newer));
        if (does === 'beside') continue;
        for (const record of [older, newer]) if (!stands.includes(record.memory_id)) ended.add(record.memory_id);
        changed = true;
        onSettled(does);
      }
    }
    if (changed) await deps.dirty.mark(tenant);
  };
}

function isNear(a: Placed, b: Placed, cosine: number): boolean {
  if (a.space !== b.space) return false;
  return a.vector.reduce((sum, x, i) => sum + x * (b.vector[i] ?? 0), 0) >= cosine;
}
