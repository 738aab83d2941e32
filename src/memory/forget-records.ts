/** Soft forgetting of records: turns after them cut loose, proposals ended, copies kept, heads marked; safe to repeat at any point. */
import { isoTime } from '../domain/clock.ts';
import { STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { PatchOutcome } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { followClaims } from './conflicts/follow.ts';
import type { MemoryDeps } from './deps.ts';
import { leaveWithParents, returnWithParents } from './derived.ts';
import type { CallContext } from './gateway.ts';
import { withdrawProposals } from './proposals.ts';
import { writerOf } from './record.ts';
import type { TurnLinks } from './turn-links.ts';
import { keepVersion, PATIENT_TRIES, pauseBetween, withoutSealed } from './versions.ts';

/** Version copies written at the same time. */
const COPIES_AT_ONCE = 8;

/** Whether a record is forgotten on request: what is forgotten already is done, a legal hold forbids it. */
export function isForgettable(record: Pick<MemoryRecord, 'status' | 'legal_hold'>): boolean {
  return record.status !== 'forgotten' && record.legal_hold !== true;
}

/** How the heads must stand; without either a head is forgotten as it stands by then. */
export interface Expected {
  readonly version?: number | undefined;
  /** Those of the heads that are what was meant. */
  readonly still?: (heads: readonly StoredRecord[]) => Promise<readonly StoredRecord[]>;
}

/**
 * Forgets those of the ids that the caller may forget and that are not forgotten yet. Returns the ids this call forgot; one that others
 * keep changing is left as it is. ERR_PRECONDITION_FAILED when `version` is given and a head is at another one, also if it moved meanwhile.
 */
export async function forgetRecords(
  deps: MemoryDeps,
  turns: TurnLinks,
  call: CallContext,
  memoryIds: readonly string[],
  { version, still }: Expected = {},
): Promise<readonly string[]> {
  const done: string[] = [];
  let open = memoryIds;
  for (let attempt = 0; open.length > 0 && attempt < PATIENT_TRIES; attempt += 1) {
    if (attempt > 0) await pauseBetween({ deps, signal: call.signal }, attempt);
    const standing = (await load(deps, call, open)).filter(({ record }) => isForgettable(record));
    const heads = still === undefined ? standing : await still(standing);
    const other = version === undefined ? undefined : heads.find(({ record }) => record.version !== version);
    if (other !== undefined) throw new HindsightError('ERR_PRECONDITION_FAILED', { params: { version: other.record.version } });
    const records = heads.map(({ record }) => record);
    // First what holds their words, then they: no crash leaves a turn or a proposal with words of what is forgotten.
    const detached = await turns.detach(records);
    const ids = new Set(records.map((record) => record.memory_id));
    const others = (proposal: MemoryRecord): boolean => !ids.has(proposal.memory_id);
    await withdrawProposals(deps, call, records, others);
    await leaveWithParents(deps, turns, writerOf(call.principal), records);
    // those look-ups take longer than a busy memory stands still
    const moves = attempt > 0 || detached.some((turn) => ids.has(turn.memory_id));
    const now = moves ? await reload(deps, call, heads, version === undefined && still === undefined) : heads;
    const { forgotten, moved } = await markForgotten(deps, call, now);
    const gone = new Set(forgotten);
    const going = records.filter((record) => gone.has(record.memory_id));
    await turns.settle(
      records.map((record) => (gone.has(record.memory_id) ? { ...record, status: 'forgotten' } : record)),
      detached,
    );
    await withdrawProposals(deps, call, going, others);
    await returnWithParents(
      deps,
      turns,
      writerOf(call.principal),
      records.filter((record) => !gone.has(record.memory_id)),
    );
    await followClaims(deps, going);
    done.push(...forgotten);
    const met = new Set(now.map(({ record }) => record.memory_id));
    open = [...moved, ...[...ids].filter((id) => !met.has(id))];
  }
  return done;
}

async function load(deps: MemoryDeps, call: CallContext, memoryIds: readonly string[]): Promise<readonly StoredRecord[]> {
  const by = deps.guard.scope(
    { memoryIds },
    { principal: call.principal, action: 'forget', reach: 'granted', statuses: STATUSES, nowMs: deps.clock() },
  );
  return deps.guard.permitted(await deps.index.get(by), by);
}

/** The same heads where they stand now, those left out that are at another version by now, or say something else where any version will do. */
async function reload(
  deps: MemoryDeps,
  call: CallContext,
  heads: readonly StoredRecord[],
  anyVersion: boolean,
): Promise<readonly StoredRecord[]> {
  const before = new Map(heads.map(({ record }) => [record.memory_id, record]));
  const now = await load(deps, call, [...before.keys()]);
  return now.filter(({ record }) => {
    const { version, content, visibility } = before.get(record.memory_id) ?? {};
    const same = record.version === version || (anyVersion && record.content === content && record.visibility === visibility);
    return same && isForgettable(record);
  });
}

/** A first version that keeps nothing sealed has no copy that could; most of what is forgotten is one, and needs no look. */
const mayHaveSealedCopies = ({ version, key_id }: MemoryRecord): boolean => version > 1 || key_id !== undefined;

async function markForgotten(
  deps: MemoryDeps,
  call: CallContext,
  heads: readonly StoredRecord[],
): Promise<{ readonly forgotten: readonly string[]; readonly moved: readonly string[] }> {
  const nowIso = isoTime(deps.clock());
  for (let from = 0; from < heads.length; from += COPIES_AT_ONCE)
    await Promise.all(heads.slice(from, from + COPIES_AT_ONCE).map(({ record }) => keepVersion(deps, withoutSealed(record), nowIso)));
  // before the heads say that they are forgotten, so that a call that broke off is repeated; after the copies, so that no other call makes one
  await deps.index.dropSealedCopies(
    call.principal.tenant,
    heads.filter(({ record }) => mayHaveSealedCopies(record)).map(({ record }) => record.memory_id),
  );
  const outcomes = await deps.index.patchMany(
    call.principal.tenant,
    heads.map(({ record, at }) => ({
      memoryId: record.memory_id,
      patch: {
        status: 'forgotten',
        reason: 'forgotten on request',
        version: record.version + 1,
        updated_at: nowIso,
        valid_from: nowIso,
        created_by: writerOf(call.principal),
        // Nobody will search it: its vectors are not worth making.
        spaces_due: [],
        ...(record.key_id === undefined ? {} : { sealed: null, key_id: null }),
      },
      at,
    })),
  );
  // Safe to repeat: what is forgotten already is left alone.
  if (outcomes.includes('away')) throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('a record could not be marked') });
  if (outcomes.includes('refused')) throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error('a record could not be marked') });
  const withOutcome = (wanted: PatchOutcome): string[] =>
    heads.filter((_, i) => outcomes[i] === wanted).map(({ record }) => record.memory_id);
  return { forgotten: withOutcome('replaced'), moved: withOutcome('conflict') };
}
