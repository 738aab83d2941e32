/** Loads records a caller names by id, with the one answer for what does not exist and what may not be seen. */
import type { MemoryRecord, StoredRecord, Status } from '../domain/memory.ts';
import type { Action } from '../domain/scope.ts';
import { HindsightError } from '../errors.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { shownStatuses } from './statuses.ts';

/**
 * The head of a memory the caller wants to change.
 * @throws ERR_MEMORY_NOT_FOUND when it may not be seen, ERR_NAMESPACE_FORBIDDEN when it may be seen but not changed.
 */
export async function loadForChange(
  deps: MemoryDeps,
  call: CallContext,
  memoryId: string,
  action: Action,
  statuses: readonly Status[],
): Promise<StoredRecord> {
  const request = { principal: call.principal, reach: 'granted', statuses, nowMs: deps.clock() } as const;
  const by = deps.guard.scope({ memoryIds: [memoryId] }, { ...request, action });
  const found = await deps.index.get(by);
  const [stored] = deps.guard.permitted(found, by);
  if (stored !== undefined) return stored;
  const reading = deps.guard.scope({}, { ...request, action: 'read', statuses: shownStatuses(call.principal) });
  if (deps.guard.permitted(found, reading).length > 0) throw new HindsightError('ERR_NAMESPACE_FORBIDDEN', { params: { action } });
  throw new HindsightError('ERR_MEMORY_NOT_FOUND');
}

/** Records named as parents, by id; those the caller may not see are missing. */
export async function loadVisible(
  deps: MemoryDeps,
  call: CallContext,
  memoryIds: readonly string[],
): Promise<ReadonlyMap<string, MemoryRecord>> {
  if (memoryIds.length === 0) return new Map();
  const by = deps.guard.scope(
    { memoryIds: [...new Set(memoryIds)] },
    { principal: call.principal, action: 'read', reach: 'granted', statuses: shownStatuses(call.principal), nowMs: deps.clock() },
  );
  return new Map(deps.guard.permitted(await deps.index.get(by), by).map(({ record }) => [record.memory_id, record]));
}
