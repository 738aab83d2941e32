/** What was made from memories that are forgotten: summaries leave the search, other derived memories are in doubt, and both come back with them; forget and restore call it. */
import { DEFAULT_STATUSES, type MemoryRecord } from '../domain/memory.ts';
import { createHeadChange } from './conflicts/head-change.ts';
import { DOUBT, refOf } from './conflicts/meet.ts';
import type { CallContext } from './gateway.ts';
import { writerOf } from './record.ts';
import { byPlace, serviceReads } from './service-reads.ts';
import type { TurnDeps } from './turn-context.ts';
import type { TurnLinks } from './turn-links.ts';

type Turns = Pick<TurnLinks, 'detach' | 'settle'>;
/** Whoever forgets, or brings back. */
type By = Pick<CallContext, 'principal'>;

export const SUMMARY_OF_FORGOTTEN = 'a memory that it sums up was forgotten';
export const MADE_OF_FORGOTTEN = 'a memory that it was made from was forgotten';

/**
 * Before the parents go, so that no crash leaves a summary to be found with their words: the summary itself is kept, out of the search, and
 * can be made anew. Seen are those of the same owner and the shared ones of the namespace. Safe to repeat. ERR_STORE_*.
 */
export async function leaveWithParents(deps: TurnDeps, turns: Turns, by: By, parents: readonly MemoryRecord[]): Promise<void> {
  const change = createHeadChange(deps, turns);
  for (const record of await derivedOf(deps, parents))
    await change(refOf(record), writerOf(by.principal), ({ status, kind, doubt }) => {
      if (!DEFAULT_STATUSES.includes(status)) return undefined;
      if (kind === 'summary') return { status: 'archived', reason: SUMMARY_OF_FORGOTTEN };
      return doubt === undefined ? { doubt: DOUBT, reason: MADE_OF_FORGOTTEN } : undefined;
    });
}

/** Once parents stand again: what left with them comes back where all of its parents that are left stand. Safe to repeat. ERR_STORE_*. */
export async function returnWithParents(deps: TurnDeps, turns: Turns, by: By, parents: readonly MemoryRecord[]): Promise<void> {
  const change = createHeadChange(deps, turns);
  const reads = serviceReads(deps);
  for (const record of await derivedOf(deps, parents)) {
    if (record.reason !== SUMMARY_OF_FORGOTTEN && record.reason !== MADE_OF_FORGOTTEN) continue;
    const sources = await reads.load(record, record.parents ?? []);
    if (sources.some((source) => source.record.status === 'forgotten')) continue;
    await change(refOf(record), writerOf(by.principal), ({ status, reason }) => {
      if (status === 'archived' && reason === SUMMARY_OF_FORGOTTEN) return { status: 'active', reason: RETURNED };
      return reason === MADE_OF_FORGOTTEN ? WITHOUT_DOUBT : undefined;
    });
  }
}

const RETURNED = 'all that it was made from stands again';
/** Undefined takes the field away: the head is written whole. */
const WITHOUT_DOUBT = { doubt: undefined, reason: RETURNED } as unknown as Partial<MemoryRecord>;

/** Heads that name one of the parents, but for proposals to them, which end in their own way (memory/proposals). */
async function derivedOf(deps: TurnDeps, parents: readonly MemoryRecord[]): Promise<readonly MemoryRecord[]> {
  const reads = serviceReads(deps);
  const found = new Map<string, MemoryRecord>();
  for (const group of byPlace(parents)) {
    const [place] = group;
    if (place === undefined) continue;
    const ids = new Set(group.map(({ memory_id: id }) => id));
    for (const record of await reads.find(place, { parents: [...ids] }))
      if (!ids.has(record.memory_id) && !(record.conflict_with ?? []).some((id) => ids.has(id) && record.parents?.includes(id)))
        found.set(record.memory_id, record);
  }
  return [...found.values()];
}
