/** Settles two stored memories that meet after their writes: merged, one in the other's place, in doubt, or left beside each other; the embed job calls it. */
import { isoTime } from '../../domain/clock.ts';
import { DEFAULT_STATUSES, type MemoryRecord, type StoredRecord } from '../../domain/memory.ts';
import type { RecordRef } from '../../domain/ports.ts';
import { systemPrincipal } from '../../gate/system-principal.ts';
import type { MemoryDeps } from '../deps.ts';
import { doubtWithEnded } from '../derived.ts';
import { withdrawProposals } from '../proposals.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnDeps } from '../turn-context.ts';
import type { TurnLinks } from '../turn-links.ts';
import { keepVersion, MAX_CAS_TRIES } from '../versions.ts';
import { against, livesLonger, type Meeting } from './against.ts';
import { followClaims } from './follow.ts';
import { createHeadChange, superseded } from './head-change.ts';
import { handOver } from './heads.ts';
import { printId, slotKey, standingOf } from './keys.ts';
import { DOUBT, refOf } from './meet.ts';

type SettleDeps = TurnDeps & Pick<MemoryDeps, 'slots' | 'relations'>;

/** What was done, and which of the two still stand. */
export interface Settled {
  readonly does: Meeting['does'];
  readonly stands: readonly string[];
}

const SYSTEM = { sub: 'system', actor: 'service' };
const BESIDE: Settled = { does: 'beside', stands: [] };
const MAX_LINKS = 16;

/**
 * Reads both as they are this moment and decides anew; whatever is done is a compare-and-set with its version kept, safe to repeat. Nobody's
 * right is widened: only an owner's own memory takes the place of theirs. Errors: ERR_STORE_*.
 */
export function createPairSettler(
  deps: SettleDeps,
  turns: Pick<TurnLinks, 'detach' | 'settle'>,
): (older: RecordRef, newer: RecordRef) => Promise<Settled> {
  const reads = serviceReads(deps);
  const change = createHeadChange(deps, turns);

  const loadOne = async (ref: RecordRef): Promise<StoredRecord | undefined> => (await reads.load(ref, [ref.memory_id]))[0];

  /** The head with the origins of the other one; the texts stay. False when it never stood still or has ended. */
  const unite = async (ref: RecordRef, other: MemoryRecord): Promise<MemoryRecord | undefined> => {
    for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
      const stored = await loadOne(ref);
      if (stored === undefined || standingOf(stored.record) !== 'active') return undefined;
      const head = stored.record;
      const nowIso = isoTime(deps.clock());
      const { expires_at: end, ...rest } = head;
      const lasting = livesLonger(other, head, deps.clock()) ? other.expires_at : end;
      const next = {
        ...rest,
        ...(lasting === undefined ? {} : { expires_at: lasting }),
        version: head.version + 1,
        updated_at: nowIso,
        valid_from: nowIso,
        created_by: SYSTEM,
      };
      await keepVersion(deps, head, nowIso);
      if ((await deps.index.replace(deps.guard.unite(next, head, other), stored.at)) === 'replaced') return next;
    }
    return undefined;
  };

  /** Changes that were proposed to a memory that has ended go with it, as at the write. */
  const withdraw = async (ended: MemoryRecord | undefined): Promise<void> => {
    if (ended === undefined) return;
    await withdrawProposals(deps, { principal: { ...systemPrincipal(ended), owner: SYSTEM.sub } }, [ended], () => true);
  };

  /** Whoever writes the same text again is answered by the memory that it was merged into. */
  const handOverOf = async (ended: MemoryRecord, survivor: MemoryRecord): Promise<void> => {
    const ids = [printId(ended, deps.relations), slotKey(ended, deps.relations)?.id].flatMap((id) => id ?? []);
    const held = await deps.slots.read(ended.tenant, ids);
    const own = held.filter(({ document }) => document.memory_id === ended.memory_id);
    await handOver(deps, own, survivor);
  };

  const merge = async (ended: MemoryRecord, survivor: MemoryRecord): Promise<void> => {
    const next = await change(refOf(ended), SYSTEM, ({ status }) =>
      DEFAULT_STATUSES.includes(status)
        ? { status: 'superseded', superseded_by: survivor.memory_id, reason: `merged into ${survivor.memory_id}` }
        : undefined,
    );
    await handOverOf(ended, survivor);
    await withdraw(next);
  };

  const link = (ref: RecordRef, other: string, fields: Partial<MemoryRecord> = {}): Promise<unknown> =>
    change(ref, SYSTEM, (head) =>
      DEFAULT_STATUSES.includes(head.status) && !(head.conflict_with ?? []).includes(other)
        ? { ...fields, conflict_with: [...(head.conflict_with ?? []), other].slice(-MAX_LINKS) }
        : undefined,
    );

  const act = async (older: MemoryRecord, newer: MemoryRecord, { does }: Meeting): Promise<Settled> => {
    const [olderRef, newerRef] = [refOf(older), refOf(newer)];
    switch (does) {
      case 'beside':
      // the pair comes in the order of its times
      case 'past':
        return BESIDE;
      case 'repeat':
        await merge(newer, older);
        return { does, stands: [older.memory_id] };
      case 'merge': {
        const united = await unite(olderRef, newer);
        if (united === undefined) return BESIDE;
        await merge(newer, united);
        return { does, stands: [older.memory_id] };
      }
      case 'replace': {
        await change(newerRef, SYSTEM, ({ supersedes = [] }) =>
          supersedes.includes(older.memory_id) ? undefined : { supersedes: [...supersedes, older.memory_id] },
        );
        const { next } = await superseded(change, olderRef, newer.memory_id, SYSTEM);
        // their slot is left to name the one that ended: the newer one stands for it (standings)
        await followClaims(deps, [older], [newer]);
        await withdraw(next);
        if (next !== undefined) await doubtWithEnded(deps, turns, SYSTEM, [next]);
        return { does, stands: [newer.memory_id] };
      }
      case 'doubt':
        await link(newerRef, older.memory_id);
        await link(olderRef, newer.memory_id, {
          status: 'conflict',
          doubt: DOUBT,
          reason: 'possibly outdated: a newer memory says otherwise',
        });
        return { does, stands: [older.memory_id, newer.memory_id] };
      case 'contest':
        await link(newerRef, older.memory_id, { status: 'conflict', doubt: DOUBT });
        await link(olderRef, newer.memory_id);
        return { does, stands: [older.memory_id, newer.memory_id] };
    }
  };

  return async (olderRef, newerRef) => {
    const [older, newer] = [await loadOne(olderRef), await loadOne(newerRef)];
    if (older === undefined || newer === undefined || !mayMeet(older.record, newer.record)) return BESIDE;
    const meeting = against(older.record, newer.record, deps.relations, { admin: false, nowMs: deps.clock() });
    return act(older.record, newer.record, meeting);
  };
}

/** Both stand, neither is to be kept as it was given, and nobody has told both of the other yet: a crash may have left one of them untold. */
export function mayMeet(older: MemoryRecord, newer: MemoryRecord): boolean {
  if ([older, newer].some((record) => standingOf(record) !== 'active' || record.admission === 'keep')) return false;
  return !(older.conflict_with ?? []).includes(newer.memory_id) || !(newer.conflict_with ?? []).includes(older.memory_id);
}
