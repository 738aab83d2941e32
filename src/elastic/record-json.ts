/** Spelling of records for the index: JSON with vector components cut to what the index can tell apart. Pure; memory-writes uses it. */
import type { MemoryRecord, Passage } from '../domain/memory.ts';

/**
 * Decimal places of a unit vector's component. int8 quantisation errs by about 1e-3, float32 has 24 bits; the full spelling of a double
 * that holds a float32 takes 18 digits, so this makes a record with 384 + 512 dimensions 11.7 kB instead of 20.1 kB, and importing it
 * 7 to 17 % faster (paired bulks of 250 on 8.19.9).
 */
const PLACES = 1e7;
/** A number of a vector as the index has it, and as queries send it: a double that holds a float32 takes 18 digits. */
export const shortened = (x: number): number => Math.round(x * PLACES) / PLACES;

/** A whole record or a partial update as it goes into the index; the same object when it has no vectors. */
export function indexable(record: Partial<MemoryRecord>): Partial<MemoryRecord> {
  const whole = withShortVectors(record);
  return whole.passages === undefined ? whole : { ...whole, passages: whole.passages.map((passage: Passage) => withShortVectors(passage)) };
}

/** The same as one line of JSON. */
export function recordJson(record: Partial<MemoryRecord>): string {
  const vectors = Object.entries(record).filter(([key, value]) => key.startsWith('vec_') && Array.isArray(value)) as [string, number[]][];
  if (vectors.length === 0) return JSON.stringify(indexable(record));
  const rest = JSON.stringify(indexable({ ...record, ...Object.fromEntries(vectors.map(([key]) => [key, undefined])) }));
  const spelled = vectors.map(([key, vector]) => `${JSON.stringify(key)}:${vectorJson(vector)}`).join(',');
  return rest === '{}' ? `{${spelled}}` : `${rest.slice(0, -1)},${spelled}}`;
}

const ZERO = 0x30; // "0"
/** The figures of 0 to 999, three bytes each. */
const FIGURES = Uint8Array.from({ length: 3_000 }, (_, i) => ZERO + (Math.floor(i / 3 / 10 ** (2 - (i % 3))) % 10));
/** "-0.1234567," for each component. */
const CHARS = 11;
let scratch = Buffer.alloc(4_096 * CHARS + 2);

/**
 * Components as decimals of seven places. JSON.stringify searches the shortest spelling of each double, which took three times as long
 * (512 dimensions: 50 us rounded and stringified, 16 us figure by figure, 11 us by threes) and was the largest single cost of an import.
 */
export function vectorJson(vector: readonly number[]): string {
  if (scratch.length < vector.length * CHARS + 2) scratch = Buffer.alloc(vector.length * CHARS + 2);
  const out = scratch;
  let at = 0;
  out[at++] = 0x5b;
  for (let i = 0; i < vector.length; i += 1) {
    const x = vector[i] ?? 0;
    if (!(x >= -1 && x <= 1)) return JSON.stringify(vector);
    let n = Math.round(x * PLACES) | 0;
    if (i > 0) out[at++] = 0x2c;
    if (n < 0) {
      out[at++] = 0x2d;
      n = -n;
    }
    const thousands = (n / 1_000) | 0;
    const first = (thousands / 1_000) | 0;
    const middle = 3 * (thousands - first * 1_000);
    const last = 3 * (n - thousands * 1_000);
    out[at] = first === 10 ? ZERO + 1 : ZERO;
    out[at + 1] = 0x2e;
    out[at + 2] = ZERO + (first === 10 ? 0 : first);
    out[at + 3] = FIGURES[middle] as number;
    out[at + 4] = FIGURES[middle + 1] as number;
    out[at + 5] = FIGURES[middle + 2] as number;
    out[at + 6] = FIGURES[last] as number;
    out[at + 7] = FIGURES[last + 1] as number;
    out[at + 8] = FIGURES[last + 2] as number;
    at += 9;
  }
  out[at++] = 0x5d;
  return out.toString('latin1', 0, at);
}

function withShortVectors<T extends object>(source: T): T {
  const vectors = Object.entries(source).filter(([key, value]) => key.startsWith('vec_') && Array.isArray(value)) as [
    string,
    readonly number[],
  ][];
  if (vectors.length === 0) return source;
  const short = vectors.map(([key, vector]) => [key, vector.map(shortened)]);
  return { ...source, ...Object.fromEntries(short) } as T;
}
