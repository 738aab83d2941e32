/** Versions: what of a record a copy keeps, and replacing a head so that its old version is never lost. */
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import { HindsightError } from '../errors.ts';
import { contextField } from './texts.ts';
import type { MemoryDeps } from './deps.ts';

/** How often a change is tried again when the head moved in between (an embed job, another writer). */
export const MAX_CAS_TRIES = 5;

/** Tries of who changes a memory whatever its version, with pauses between them: some seconds in all. */
export const PATIENT_TRIES = 20;
const FIRST_PAUSE_MS = 10;
const LAST_PAUSE_MS = 320;

/** Who waits, and until when. */
export interface Patience {
  readonly deps: Pick<MemoryDeps, 'sleep'>;
  readonly signal: AbortSignal;
}

/** Longer with each attempt, and never of one length, so that those who met do not meet again. */
export async function pauseBetween({ deps, signal }: Patience, attempt: number): Promise<void> {
  signal.throwIfAborted();
  const longestMs = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  await deps.sleep(longestMs * (0.5 + Math.random() / 2), signal);
}

/** Fields that belong to the embedding of one text, not to the memory. */
const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'spaces_ready',
  'spaces_due',
  'embed_tries',
  'embed_error',
  'lease_until',
  'lease_by',
  'tries',
]);

/** The record without vectors, embedding state and leases; passages keep their texts. */
export function withoutVectors(record: MemoryRecord): MemoryRecord {
  const kept = Object.entries(record).filter(([field]) => !field.startsWith('vec_') && !EMBEDDING_FIELDS.has(field));
  const bare = Object.fromEntries(kept) as unknown as MemoryRecord;
  return bare.passages === undefined ? bare : { ...bare, passages: bare.passages.map(({ start, end, text }) => ({ start, end, text })) };
}

/** The record without what reveal could open. */
export function withoutSealed(record: MemoryRecord): MemoryRecord {
  const { sealed: _sealed, key_id: _keyId, ...rest } = record;
  return rest;
}

/**
 * Keeps the head as it is as a version copy that ended at `nowIso`. The copy is made with op_type=create under `memory_id@version`, so
 * doing it twice, or a crash before the head is replaced, changes nothing. It keeps no words of the turn before: nobody would take them
 * back from a copy when that turn goes.
 */
export async function keepVersion(deps: Pick<MemoryDeps, 'index' | 'guard'>, head: MemoryRecord, nowIso: string): Promise<void> {
  const { prev_turn_id: _before, next_turn_id: _after, lex_context: words, ...own } = withoutVectors(head);
  const context = words === undefined ? undefined : contextField(head, undefined);
  const copy = { ...own, valid_to: nowIso, ...(context === undefined ? {} : { lex_context: context }) };
  await deps.index.saveVersion(deps.guard.readmit(copy, head));
}

/**
 * Versions with the time each ended: the start of the next one. What a copy itself says may be the time of an attempt that lost a race or
 * failed after the copy was made. `versions`: of one memory, newest first, the head among them.
 */
export function withIntervals(versions: readonly MemoryRecord[]): readonly MemoryRecord[] {
  const startOf = new Map(versions.map((record) => [record.version, record.valid_from]));
  return versions.map((record) => {
    const end = startOf.get(record.version + 1);
    return end === undefined ? record : { ...record, valid_to: end };
  });
}

/**
 * Reads, changes and writes a head until nobody moved it in between.
 * @throws ERR_VERSION_CONFLICT after five tries, with `patience` after twenty; whatever `read` and `change` throw.
 */
export async function compareAndSet<T>(
  read: () => Promise<StoredRecord>,
  change: (stored: StoredRecord) => Promise<{ readonly done: T } | 'conflict'>,
  patience?: Patience,
): Promise<T> {
  const tries = patience === undefined ? MAX_CAS_TRIES : PATIENT_TRIES;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const result = await change(await read());
    if (result !== 'conflict') return result.done;
    if (patience !== undefined) await pauseBetween(patience, attempt);
  }
  throw new HindsightError('ERR_VERSION_CONFLICT');
}
