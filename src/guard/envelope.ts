/** The envelope around text that is to be consulted and never followed; put on by the guard's screen on every read path. */
import type { MemoryRecord } from '../domain/memory.ts';
import { tierName } from '../domain/trust.ts';

/** Free text of records as hits and views show it; the other strings are enums, ids, hashes or the service's own words. */
type Worded = Partial<
  Pick<MemoryRecord, 'content' | 'title' | 'summary' | 'subject' | 'topic' | 'tags' | 'session_id' | 'task_id' | 'task_type' | 'metadata'>
>;

export type Wrap = (text: string) => string;

/** White square brackets, and the tortoise-shell pair that looks the same, as plain ones. */
const BRACKETS = /[⟦⟧〚〛]/gu;
const OPENING = /[⟦〚]/u;

/** The text without anything that could be read as a boundary of the envelope. */
export function neutralise(text: string): string {
  return text.replace(BRACKETS, (bracket) => (OPENING.test(bracket) ? '[' : ']'));
}

/**
 * Wraps texts of one record: `⟦ref B tier date id⟧text⟦/ref B⟧`. `boundary` is random per response, so a text written before cannot
 * know it; brackets inside are neutralised as well.
 */
export function envelopeOf(record: Pick<MemoryRecord, 'memory_id' | 'trust_tier' | 'created_at'>, boundary: string): Wrap {
  const head = `⟦ref ${boundary} ${tierName(record.trust_tier)} ${record.created_at.slice(0, 10)} ${record.memory_id}⟧`;
  return (text) => `${head}${neutralise(text)}⟦/ref ${boundary}⟧`;
}

/** One word of identifier characters: cannot carry a sentence, so it stays readable as an id. */
const IDENTIFIER = /^[A-Za-z0-9_.:@/+=#-]{1,128}$/;

/** The record with every free-text string wrapped; ids stay when they are ids by their form, too. */
export function wrapTexts<T extends Worded>(record: T, wrap: Wrap): T {
  const id: Wrap = (text) => (IDENTIFIER.test(text) ? text : wrap(text));
  const wrapped: { -readonly [K in keyof Worded]: Worded[K] } = {};
  for (const field of ['content', 'title', 'summary', 'subject', 'topic'] as const) {
    const text = record[field];
    if (text !== undefined) wrapped[field] = wrap(text);
  }
  for (const field of ['session_id', 'task_id', 'task_type'] as const) {
    const text = record[field];
    if (text !== undefined) wrapped[field] = id(text);
  }
  if (record.tags !== undefined) wrapped.tags = record.tags.map(wrap);
  if (record.metadata !== undefined) wrapped.metadata = wrapJson(record.metadata, wrap, id) as Record<string, unknown>;
  return { ...record, ...wrapped };
}

/** Metadata: every string value, and keys that are more than an identifier. */
function wrapJson(value: unknown, wrap: Wrap, id: Wrap): unknown {
  if (typeof value === 'string') return wrap(value);
  if (Array.isArray(value)) return value.map((part) => wrapJson(part, wrap, id));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [id(key), wrapJson(part, wrap, id)]));
}
