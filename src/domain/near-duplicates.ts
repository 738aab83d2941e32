/** Vector near-duplicates as a port: the embed job shows what got its vectors, memory/conflicts compares it. */
import type { MemoryRecord } from './memory.ts';

/** A record and its own vectors by space, each of length 1. */
export interface EmbeddedRecord {
  readonly record: MemoryRecord;
  readonly vectors: ReadonlyMap<string, Float32Array>;
}

/** Resolves when everything that met is settled. Errors: ERR_STORE_*; doing it again does no harm. */
export type MeetNearest = (tenant: string, embedded: readonly EmbeddedRecord[]) => Promise<void>;
