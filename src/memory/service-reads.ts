/** Look-ups the service makes for its own upkeep (turn links, proposals): every status, expired ones too, within one owner's view of a namespace. */
import { STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { LinkFilter } from '../domain/ports.ts';
import { mapUnscreened, type Scoped } from '../domain/sealed.ts';
import { systemPrincipal } from '../gate/system-principal.ts';
import type { MemoryDeps } from './deps.ts';

/** Whose view of which namespace. */
export type Place = Pick<MemoryRecord, 'tenant' | 'namespace' | 'owner'>;

export interface ServiceReads {
  /** Heads as they are this moment, in the order of the ids; missing ones are left out. */
  load(place: Place, memoryIds: readonly string[]): Promise<readonly StoredRecord[]>;
  /** The same for records of many places, one look-up for each place. */
  loadAll(refs: readonly (Place & Pick<MemoryRecord, 'memory_id'>)[]): Promise<readonly StoredRecord[]>;
  /** Every record that fits, newest first, without vectors, as the last refresh shows it; all acknowledged writes are in it. */
  find(place: Place, links: LinkFilter): Promise<readonly MemoryRecord[]>;
  /** Whatever was made of these in their namespaces, other owners' private records too, as it is this moment; seen as by `find`. */
  madeOf(parents: readonly (Place & Pick<MemoryRecord, 'memory_id'>)[]): Promise<readonly MemoryRecord[]>;
}

const PAGE = 200;

export function serviceReads({ index, guard, dirty }: Pick<MemoryDeps, 'index' | 'guard' | 'dirty'>): ServiceReads {
  const bound = <Q>(place: Place, query: Q): Scoped<Q> =>
    guard.scope(query, {
      principal: systemPrincipal(place),
      action: 'read',
      reach: [place.namespace],
      statuses: STATUSES,
      // What has expired still holds the words it borrowed, so nothing counts as expired here.
      nowMs: 0,
    });

  const load: ServiceReads['load'] = async (place, memoryIds) => {
    if (memoryIds.length === 0) return [];
    const by = bound(place, { memoryIds: [...new Set(memoryIds)] });
    return guard.permitted(await index.get(by), by);
  };

  const loadAll: ServiceReads['loadAll'] = async (refs) => {
    const found: StoredRecord[] = [];
    for (const group of byPlace(refs)) {
      const [place] = group;
      const ids = group.map((ref) => ref.memory_id);
      if (place !== undefined) found.push(...(await load(place, ids)));
    }
    return found;
  };

  return {
    load,
    loadAll,
    madeOf: async (parents) => {
      const found: MemoryRecord[] = [];
      // whoever owns the parents
      for (const group of byPlace(parents.map((parent) => ({ ...parent, owner: '' })))) {
        const [place] = group;
        if (place === undefined) continue;
        await dirty.settle(place.tenant, () => index.refresh(place.tenant));
        const ids = [...new Set(group.map(({ memory_id: id }) => id))];
        const made = await loadAll(await index.madeOf(place.tenant, place.namespace, ids));
        found.push(...made.map(({ record }) => record));
      }
      return found;
    },
    find: async (place, links) => {
      await dirty.settle(place.tenant, () => index.refresh(place.tenant));
      const records: MemoryRecord[] = [];
      let after: readonly [number, string] | undefined;
      do {
        const by = bound(place, { filter: {}, links, limit: PAGE, after });
        const page = await index.list(by);
        mapUnscreened(page, ({ next }) => (after = next));
        records.push(
          ...guard.permitted(
            mapUnscreened(page, (p) => p.records),
            by,
          ),
        );
      } while (after !== undefined);
      return records;
    },
  };
}

/** Records by the place they stand in: one look-up serves them all. */
export function byPlace<T extends Place>(records: readonly T[]): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const record of records) {
    const key = JSON.stringify([record.tenant, record.namespace, record.owner]);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()];
}
