/** Vector near-duplicates as the embed job sees them: the own vectors of a batch, shown to whoever compares memories (memory/conflicts/meet-nearest). */
import type { MemoryRecord } from '../domain/memory.ts';
import type { Embedded, EmbedWork } from './embed-batch.ts';

/** A record and its own vectors by space, each of length 1. */
export interface EmbeddedRecord {
  readonly record: MemoryRecord;
  readonly vectors: ReadonlyMap<string, Float32Array>;
}

/** Resolves when everything that met is settled. Errors: ERR_STORE_*; doing it again does no harm. */
export type MeetNearest = (tenant: string, embedded: readonly EmbeddedRecord[]) => Promise<void>;

/** Records that got a vector, with those of their passages left out. */
export function embeddedRecords(results: ReadonlyMap<EmbedWork, Embedded>): readonly EmbeddedRecord[] {
  return [...results].flatMap(([{ stored }, { vectors }]) => {
    const own = [...vectors].flatMap(([space, [vector]]): [string, Float32Array][] => (vector === undefined ? [] : [[space, vector]]));
    return own.length === 0 ? [] : [{ record: stored.record, vectors: new Map(own) }];
  });
}
