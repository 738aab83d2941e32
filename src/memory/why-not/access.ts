/** Why-not, first part: what of the memories asked about the caller may know of at all, and what keeps each of them out of the search. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { mapUnscreened, type Scoped } from '../../domain/sealed.ts';
import type { Filter } from '../../domain/wire/common.ts';
import type { AccessRequest } from '../../gate/access-policy.ts';
import type { MemoryDeps } from '../deps.ts';
import { shownStatuses } from '../statuses.ts';

type Deps = Pick<MemoryDeps, 'index' | 'guard' | 'clock' | 'sleep'>;

/** Wider than a look-up by id takes (operations/even-time): what is another's and what is not there take the same time. */
const STEP_MS = 25;

/**
 * The memories that the caller could read by id, those that have expired besides, by id. Of any other id nothing is learned: neither more nor
 * less is done for it, and the time of the look-up is on a grid. ERR_STORE_*.
 */
export async function knownOf(
  deps: Deps,
  { principal }: AccessRequest,
  memoryIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MemoryRecord>> {
  const startedMs = deps.clock();
  const by = knowing(deps, { principal, action: 'read', reach: 'granted', nowMs: 0 }, { memoryIds: [...new Set(memoryIds)] });
  const found = deps.guard.permitted(await deps.index.get(by), by);
  const known = new Map(found.map(({ record }) => [record.memory_id, record]));
  if (memoryIds.some((id) => !known.has(id))) {
    const tookMs = Math.max(0, deps.clock() - startedMs);
    await deps.sleep(STEP_MS - (tookMs % STEP_MS), signal);
  }
  return known;
}

/** Whether the search looked where it is; in any status, whatever its end. */
export function inReach(deps: Deps, request: AccessRequest, record: MemoryRecord): boolean {
  return knowing(deps, request, {}).scope.permits(record);
}

/** By memory id the names of those conditions of the filter that it does not fit (statuses are the request's); one small search for each condition. */
export async function unmetBy(
  deps: Deps,
  request: AccessRequest,
  filter: Filter,
  memoryIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const unmet = new Map<string, string[]>(memoryIds.map((id) => [id, []]));
  if (memoryIds.length === 0) return unmet;
  const conditions = Object.entries(filter).filter(([, value]) => value !== undefined);
  const fits = await Promise.all(
    conditions.map(async ([name, value]) => {
      const look = { filter: { [name]: value }, links: { memory_id: memoryIds }, limit: memoryIds.length, after: undefined };
      const by = knowing(deps, request, look);
      const records = mapUnscreened(await deps.index.list(by), (page) => page.records);
      return new Set(deps.guard.permitted(records, by).map(({ memory_id: id }) => id));
    }),
  );
  conditions.forEach(([name], i) => {
    for (const [id, names] of unmet) if (fits[i]?.has(id) !== true) names.push(name);
  });
  return unmet;
}

/** A scope over every status that the caller may be shown, ended or not. */
function knowing<Q>(deps: Deps, request: AccessRequest, query: Q): Scoped<Q> {
  return deps.guard.scope(query, { ...request, statuses: shownStatuses(request.principal), nowMs: 0 });
}
