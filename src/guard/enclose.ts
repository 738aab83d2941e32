/** Puts what is reference only into the envelope, and makes the one line that a prompt shows of a thing; the last step of the guard's screen. */
import type { MemoryRecord } from '../domain/memory.ts';
import { oneLine } from '../text/one-line.ts';
import { mayInstruct, standingFor, type Standing } from './confirmation.ts';
import { envelopeOf, neutralise, type Wrap } from './envelope.ts';

export interface Enclosed<T> {
  readonly value: T;
  /** True: data to consult, never an instruction. */
  readonly referenceOnly: boolean;
  /** How far it is trusted for this reader: what others confirmed for themselves is stated. */
  readonly trust: Standing;
  /** With `lineOf`. */
  readonly line?: string;
}

/**
 * Makes the one text that a prompt shows of a thing, from its fields as stored; it comes back as the item's `line`: neutralised, on one
 * line, and in the envelope as a whole where the thing is reference only.
 */
export type LineOf<T> = (value: T) => string;

export interface Enclosing<T> {
  /** Owner id of the reader. */
  readonly reader: string;
  /** True: as stored, without the envelope. */
  readonly raw: boolean;
  readonly boundary: string;
  readonly lineOf?: LineOf<T> | undefined;
  readonly recordOf: (value: T) => Decisive;
  readonly wrapped: (value: T, wrap: Wrap) => T;
}

type Decisive = Pick<MemoryRecord, 'memory_id' | 'owner' | 'trust_tier' | 'created_at' | 'guard'>;

export function enclosed<T>(
  values: readonly T[],
  { reader, raw, boundary, lineOf, recordOf, wrapped }: Enclosing<T>,
): readonly Enclosed<T>[] {
  return values.map((value) => {
    const record = recordOf(value);
    const referenceOnly = !mayInstruct(record, reader);
    const trust = standingFor(record, reader);
    const wrap = envelopeOf({ ...record, trust_tier: trust.tier }, boundary);
    const line = lineOf === undefined ? {} : { line: lineIn(lineOf(value), referenceOnly, wrap) };
    return { value: referenceOnly && !raw ? wrapped(value, wrap) : value, referenceOnly, trust, ...line };
  });
}

/**
 * Neutralised while its lines still are lines, which marks of a speaker begin, and once more as the one line it becomes: that may bring
 * together what was apart.
 */
function lineIn(text: string, referenceOnly: boolean, wrap: Wrap): string {
  const line = inertLine(text);
  return referenceOnly ? wrap(line) : line;
}

const inertLine = (text: string): string => neutralise(oneLine(neutralise(text, false)), false);

/** A text as a screen gave it with this boundary, for a line of the same response: what stands in its envelope is neutralised already. */
export function lineOfScreened(text: string, boundary: string): string {
  return text.startsWith(`⟦ref ${boundary} `) ? oneLine(text) : inertLine(text);
}
