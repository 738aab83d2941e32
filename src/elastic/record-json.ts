/** Spelling of records for the index: JSON with vector components cut to what the index can tell apart. Pure; memory-writes uses it. */
import type { MemoryRecord, Passage } from '../domain/memory.ts';

/**
 * Decimal places of a unit vector's component. int8 quantisation errs by about 1e-3, float32 has 24 bits; the full spelling of a double
 * that holds a float32 takes 18 digits, so this makes a record with 384 + 512 dimensions 11.7 kB instead of 20.1 kB, and importing it
 * 7 to 17 % faster (paired bulks of 250 on 8.19.9).
 */
const PLACES = 1e7;

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
const DIGITS = 7;
/** "-0.1234567," for each component. */
let scratch = Buffer.allocUnsafe(4_096 * 11 + 2);

/**
 * Components as decimals of seven places. JSON.stringify searches the shortest spelling of each double, which took twice as long
 * (512 dimensions: 50 us rounded and stringified, 25 us so) and was the largest single cost of an import.
 */
function vectorJson(vector: readonly number[]): string {
  if (!vector.every((x) => Math.abs(x) <= 1)) return JSON.stringify(vector);
  if (scratch.length < vector.length * 11 + 2) scratch = Buffer.allocUnsafe(vector.length * 11 + 2);
  let at = 0;
  scratch[at++] = 0x5b;
  for (let i = 0; i < vector.length; i += 1) {
    let n = Math.round((vector[i] ?? 0) * PLACES);
    if (i > 0) scratch[at++] = 0x2c;
    if (n < 0) {
      scratch[at++] = 0x2d;
      n = -n;
    }
    scratch[at++] = n >= PLACES ? ZERO + 1 : ZERO;
    scratch[at++] = 0x2e;
    n %= PLACES;
    for (let digit = at + DIGITS - 1; digit >= at; digit -= 1) {
      const rest = (n / 10) | 0;
      scratch[digit] = ZERO + n - rest * 10;
      n = rest;
    }
    at += DIGITS;
  }
  scratch[at++] = 0x5d;
  return scratch.toString('latin1', 0, at);
}

function withShortVectors<T extends object>(source: T): T {
  const vectors = Object.entries(source).filter(([key, value]) => key.startsWith('vec_') && Array.isArray(value)) as [
    string,
    readonly number[],
  ][];
  if (vectors.length === 0) return source;
  const short = vectors.map(([key, vector]) => [key, vector.map((x) => Math.round(x * PLACES) / PLACES)]);
  return { ...source, ...Object.fromEntries(short) } as T;
}
