/** Takes a record out of use without anybody's call: the rescan quarantines, the sweep of pending writes rejects; texts, trust and versions stay for review. */
import { isoTime } from '../domain/clock.ts';
import type { GuardMark, MemoryRecord } from '../domain/memory.ts';
import type { RecordRef } from '../domain/ports.ts';
import { followClaims } from './conflicts/follow.ts';
import type { MemoryDeps } from './deps.ts';
import { leaveWithChange, returnWithParents } from './derived.ts';
import { SYSTEM_WRITER } from './record.ts';
import { serviceReads } from './service-reads.ts';
import type { TurnDeps } from './turn-context.ts';
import type { TurnLinks } from './turn-links.ts';
import { keepVersion } from './versions.ts';

/** What becomes of a record. */
export interface Aside {
  readonly status: 'quarantined' | 'rejected';
  readonly reason: string;
  /** What the guard says of it now. */
  readonly guard?: GuardMark;
}

/**
 * `decide` sees the head as it is this moment and answers what is to become of it, undefined to leave it. Resolves with 'moved' when
 * somebody changed the head meanwhile: it is found again. Errors: ERR_STORE_*.
 */
export type SetAside = (ref: RecordRef, decide: (head: MemoryRecord) => Aside | undefined) => Promise<'done' | 'left' | 'moved'>;

/** Turns after it give back the words they borrowed first, so that no search finds a word of it through its neighbour. */
export function createSetAside(
  deps: TurnDeps & Pick<MemoryDeps, 'slots' | 'relations'>,
  turns: Pick<TurnLinks, 'detach' | 'settle'>,
): SetAside {
  const reads = serviceReads(deps);
  return async (ref, decide) => {
    const [stored] = await reads.load(ref, [ref.memory_id]);
    const aside = stored === undefined ? undefined : decide(stored.record);
    if (stored === undefined || aside === undefined) return 'left';
    const head = stored.record;
    const detached = await turns.detach([head]);
    const nowIso = isoTime(deps.clock());
    const changed: MemoryRecord = {
      ...head,
      ...aside,
      version: head.version + 1,
      updated_at: nowIso,
      valid_from: nowIso,
      created_by: SYSTEM_WRITER,
      spaces_due: [],
    };
    await keepVersion(deps, head, nowIso);
    await leaveWithChange(deps, turns, changed.created_by, head, changed);
    const outcome = await deps.index.replace(deps.guard.readmit(changed, head), stored.at);
    await turns.settle([outcome === 'replaced' ? changed : head], detached);
    if (outcome !== 'replaced') {
      if (aside.status === 'quarantined') await returnWithParents(deps, turns, changed.created_by, [head]);
      return 'moved';
    }
    await followClaims(deps, [head], [changed]);
    await deps.dirty.mark(head.tenant);
    return 'done';
  };
}
