/** Versions: what of a record a copy keeps, and replacing a head so that its old version is never lost. */
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import { HindsightError } from '../errors.ts';
import type { MemoryDeps } from './deps.ts';

/** How often a change is tried again when the head moved in between (an embed job, another writer). */
export const MAX_CAS_TRIES = 5;

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

/**
 * Keeps the head as it is as a version copy that ended at `nowIso`. The copy is made with op_type=create under `memory_id@version`, so
 * doing it twice, or a crash before the head is replaced, changes nothing.
 */
export async function keepVersion(deps: Pick<MemoryDeps, 'index' | 'guard'>, head: MemoryRecord, nowIso: string): Promise<void> {
  await deps.index.saveVersion(deps.guard.readmit({ ...withoutVectors(head), valid_to: nowIso }, head));
}

/**
 * Reads, changes and writes a head until nobody moved it in between.
 * @throws ERR_VERSION_CONFLICT after five tries; whatever `read` and `change` throw.
 */
export async function compareAndSet<T>(
  read: () => Promise<StoredRecord>,
  change: (stored: StoredRecord) => Promise<{ readonly done: T } | 'conflict'>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
    const result = await change(await read());
    if (result !== 'conflict') return result.done;
  }
  throw new HindsightError('ERR_VERSION_CONFLICT');
}
