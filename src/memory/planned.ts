/** What a forget plan still means: memories that say what they said at its dry run; memory/forget asks before each is forgotten. */
import { canonicalJson } from '../domain/canonical-json.ts';
import { STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import { sealedTextsOf } from '../guard/sealed-texts.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import type { ForgetPlan } from './plan.ts';

/** Why a memory of a plan is left. */
export const CHANGED_SINCE = 'it was changed after the dry run';

/**
 * Picks those of the heads that a plan may forget; `skip` is told of the others. A new version with the same texts (a repeat was united with
 * it, another memory contradicts it) is what the dry run showed; one with other texts, or pinned since, is not. ERR_STORE_*.
 */
export function stillPlanned(
  deps: MemoryDeps,
  call: CallContext,
  { ids, versions, before_ms: beforeMs }: ForgetPlan,
  skip: (memoryId: string) => void,
): (heads: readonly StoredRecord[]) => Promise<readonly StoredRecord[]> {
  const planned = new Map((ids ?? []).map((id, i) => [id, versions?.[i]]));

  /** The copy as it stood at the dry run; a plan too large to name versions goes by its time. */
  const shown = async ({ memory_id: id }: MemoryRecord): Promise<MemoryRecord | undefined> => {
    const version = planned.get(id);
    const by = deps.guard.scope(
      { memoryId: id, ...(version === undefined ? {} : { version }) },
      { principal: call.principal, action: 'forget', reach: 'granted', statuses: STATUSES, nowMs: deps.clock() },
    );
    const copies = deps.guard.permitted(await deps.index.versions(by), by);
    return copies.find((copy) => (version === undefined ? Date.parse(copy.valid_from) < beforeMs : copy.version === version));
  };

  return async (heads) => {
    const still: StoredRecord[] = [];
    for (const head of heads) {
      const { record } = head;
      const version = planned.get(record.memory_id);
      const untouched = version === undefined ? Date.parse(record.valid_from) < beforeMs : record.version === version;
      const before = untouched ? record : await shown(record);
      if (before !== undefined && saysTheSame(before, record)) still.push(head);
      else skip(record.memory_id);
    }
    return still;
  };
}

function saysTheSame(before: MemoryRecord, now: MemoryRecord): boolean {
  if (now.pinned === true && before.pinned !== true) return false;
  return canonicalJson(sealedTextsOf(before)) === canonicalJson(sealedTextsOf(now));
}
