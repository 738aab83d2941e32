/** The fields that vectors, failures and the end of a lease leave on a record; pure, used by the embed job. */
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord, Passage } from '../domain/memory.ts';
import type { RecordPatch } from '../domain/ports.ts';
import type { ErrorCode } from '../errors.ts';
import { EmbeddingRejected, type VectorSpace } from '../providers/embedding/provider.ts';
import { EMBED_TRIES_MAX } from '../stores/embed-queue.ts';
import type { Embedded } from './embed-batch.ts';

/** First pause of a refused text; doubles with each try. */
const RETRY_MS = 1_000;
/** The same where endpoint or store failed: overload may pass, so five tries must take minutes (30 s to 4 min between them). */
const RETRY_FAILED_MS = 15_000;

/**
 * Of the record as it is stored `now`, which may have moved since it was claimed. Settles the spaces that were filled and no other:
 * those due in another version's spaces stay due. A failure costs a try.
 */
export function patchOf(now: MemoryRecord, { vectors, failed }: Embedded, spaces: readonly VectorSpace[], nowMs: number): RecordPatch {
  const due = (now.spaces_due ?? []).filter((space) => !vectors.has(space));
  const fields: Record<string, unknown> = {};
  let passages: readonly Passage[] | undefined = now.passages;
  for (const [name, [own, ...more]] of vectors) {
    const field = spaces.find((space) => space.name === name)?.field;
    if (field === undefined || own === undefined) continue;
    fields[field] = Array.from(own);
    passages = passages?.map((passage, i) => {
      const vector = more[i];
      return vector === undefined ? passage : { ...passage, [field]: Array.from(vector) };
    });
  }
  const pauseMs = failed instanceof EmbeddingRejected ? RETRY_MS : RETRY_FAILED_MS;
  const settled = !due.some((name) => spaces.some((space) => space.name === name));
  return {
    ...(fields as RecordPatch),
    ...(vectors.size > 0 && passages !== undefined ? { passages } : {}),
    ...(vectors.size > 0 ? { spaces_ready: [...new Set([...(now.spaces_ready ?? []), ...vectors.keys()])] } : {}),
    spaces_due: due,
    ...(failed === undefined ? { lease_until: isoTime(nowMs) } : triedPatch(now, failed.code, nowMs, pauseMs)),
    ...(failed === undefined && settled && now.embed_tries !== undefined ? { embed_tries: 0, embed_error: '' } : {}),
  };
}

/** A counted try and nothing else: where the store refused the vectors themselves. Small, so that it may pass where they did not. */
export function triedPatch(now: MemoryRecord, code: ErrorCode, nowMs: number, pauseMs = RETRY_FAILED_MS): RecordPatch {
  const tries = triesOf(now);
  return { embed_tries: tries, embed_error: code, lease_until: isoTime(nowMs + pauseMs * 2 ** tries) };
}

/** Tries of a record after one more; a dead letter stays at the limit, whatever its days. */
function triesOf(record: MemoryRecord): number {
  return Math.min(EMBED_TRIES_MAX, (record.embed_tries ?? 0) + 1);
}

/** Whether one more failed try makes it a dead letter. */
export function diesOf(record: MemoryRecord): boolean {
  return (record.embed_tries ?? 0) === EMBED_TRIES_MAX - 1;
}
