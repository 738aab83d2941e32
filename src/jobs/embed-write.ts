/** Writes what the embed job made back by position: again where only the position moved, and a try where the store refuses a record. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../domain/clock.ts';
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import type { MemoryIndex, PatchOutcome, RecordPatch } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { triedPatch } from './embed-patch.ts';
import { textsToEmbed } from './embed-text.ts';

const MAX_CAS_TRIES = 3;

export interface Change {
  readonly record: MemoryRecord;
  readonly at: StoredRecord['at'];
  /** Made of the record as it is stored when it is written. */
  readonly patch: (now: MemoryRecord) => RecordPatch;
  /** What the vectors of the patch were made from; undefined when it has none. */
  readonly texts: readonly string[] | undefined;
}

export interface EmbedWriterOptions {
  readonly index: Pick<MemoryIndex, 'patchMany'>;
  readonly clock: Clock;
  /** The record as it is stored now, whatever its status. */
  readonly load: (record: MemoryRecord) => Promise<StoredRecord | undefined>;
  /** The turn before, as far as it may lend its words now. */
  readonly previousOf: (record: MemoryRecord) => Promise<StoredRecord | undefined>;
}

/** Answers the records whose vectors the store refused: each has cost a try. ERR_STORE_* when the store takes not even that. */
export type EmbedWriter = (tenant: string, changes: readonly Change[]) => Promise<readonly MemoryRecord[]>;

export function createEmbedWriter({ index, clock, load, previousOf }: EmbedWriterOptions): EmbedWriter {
  /** Whether a patch made of `record` still holds for what is stored `now`: its vectors would be made from the very same texts. */
  const holds = async ({ record, texts }: Change, now: MemoryRecord): Promise<boolean> => {
    if (texts === undefined) return now.content === record.content && now.subject === record.subject;
    const previous = await previousOf(now);
    return now.prev_turn_id === record.prev_turn_id && isDeepStrictEqual(textsToEmbed(now, previous?.record), texts);
  };

  const write = (tenant: string, changes: readonly Change[]): Promise<readonly PatchOutcome[]> =>
    index.patchMany(
      tenant,
      changes.map(({ record, patch, at }) => ({ memoryId: record.memory_id, patch: patch(record), at })),
    );

  /**
   * The refusal may be the work of the vectors (their size, a mapping): then the small patch passes and the record has had its try. A
   * store that takes nothing at all is away, and nobody's fault.
   */
  const blame = async (tenant: string, failures: readonly (Change & { readonly code: FailureCode })[]): Promise<void> => {
    const outcomes = await write(
      tenant,
      failures.map((change) => ({ ...change, patch: (now) => triedPatch(now, change.code, clock()) })),
    );
    if (outcomes.includes('away'))
      throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('a failed try could not be noted') });
  };

  return async (tenant, changes) => {
    const failures: (Change & { readonly code: FailureCode })[] = [];
    let open = changes;
    for (let attempt = 0; open.length > 0 && attempt < MAX_CAS_TRIES; attempt += 1) {
      const outcomes = await write(tenant, open);
      const again: Change[] = [];
      for (const [i, change] of open.entries()) {
        const code = FAILURES[outcomes[i] ?? 'missing'];
        // A link that could not be written is found by search when it is needed.
        if (code !== undefined && change.texts !== undefined) failures.push({ ...change, code });
        if (outcomes[i] !== 'conflict') continue;
        const now = await load(change.record);
        if (now !== undefined && (await holds(change, now.record))) again.push({ ...change, ...now });
      }
      open = again;
    }
    if (failures.length > 0) await blame(tenant, failures);
    return failures.map(({ record }) => record);
  };
}

type FailureCode = 'ERR_STORE_REJECTED' | 'ERR_STORE_UNAVAILABLE';
const FAILURES: Readonly<Partial<Record<PatchOutcome, FailureCode>>> = {
  refused: 'ERR_STORE_REJECTED',
  away: 'ERR_STORE_UNAVAILABLE',
};
