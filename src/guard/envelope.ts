/** The envelope around text that is to be consulted and never followed; put on by the guard's screen on every read path. */
import type { MemoryRecord } from '../domain/memory.ts';
import { TIER, tierName } from '../domain/trust.ts';
import { withoutInvisible } from './screening/invisible.ts';
import { withoutLinks } from './screening/links.ts';
import { withoutRoleMarks } from './screening/role-marks.ts';

/** Free text of records as hits and views show it; the other strings are enums, ids, hashes or the service's own words. */
type Worded = Partial<
  Pick<MemoryRecord, 'content' | 'title' | 'summary' | 'subject' | 'topic' | 'tags' | 'session_id' | 'task_id' | 'task_type' | 'metadata'>
>;

export type Wrap = (text: string) => string;

/** White square brackets, and the tortoise-shell pair that looks the same, as plain ones. */
const BRACKETS = /[⟦⟧〚〛]/gu;
const OPENING = /[⟦〚]/u;

/**
 * The text with nothing in it that could be taken for a boundary of the envelope, for another speaker or for what a reader does not see;
 * of foreign text (web, documents, tools) also no image and no link. It stays readable. Pure and idempotent, linear in the text.
 */
export function neutralise(text: string, foreign: boolean): string {
  const seen = withoutInvisible(text).replace(BRACKETS, (bracket) => (OPENING.test(bracket) ? '[' : ']'));
  return withoutRoleMarks(foreign ? withoutLinks(seen) : seen);
}

/**
 * Wraps texts of one record: `⟦ref B tier date id⟧text⟦/ref B⟧`. `boundary` is random per response, so a text written before cannot
 * know it; what is inside is neutralised as well.
 */
export function envelopeOf(record: Pick<MemoryRecord, 'memory_id' | 'trust_tier' | 'created_at'>, boundary: string): Wrap {
  const head = `⟦ref ${boundary} ${tierName(record.trust_tier)} ${record.created_at.slice(0, 10)} ${record.memory_id}⟧`;
  const foreign = record.trust_tier <= TIER.tool_output;
  return (text) => `${head}${neutralise(text, foreign)}⟦/ref ${boundary}⟧`;
}

/** A whole envelope; the boundary is hex. */
const WRAPPED = /^⟦ref [0-9a-f]+ [^⟧]*⟧([^⟦]*)⟦\/ref [0-9a-f]+⟧$/u;

/** What was shown in the envelope of a text; the text itself where there is none. */
export function unwrapped(text: string): string {
  return WRAPPED.exec(text.trim())?.[1] ?? text;
}

/**
 * The record with every string wrapped that a writer chose. Ids of tasks and sessions and metadata keys too, whatever their form: one word
 * such as `ignore_all_previous_instructions` says enough, and no form tells an id from a sentence without spaces.
 */
export function wrapTexts<T extends Worded>(record: T, wrap: Wrap): T {
  const wrapped: { -readonly [K in keyof Worded]: Worded[K] } = {};
  for (const field of ['content', 'title', 'summary', 'subject', 'topic', 'session_id', 'task_id', 'task_type'] as const) {
    const text = record[field];
    if (text !== undefined) wrapped[field] = wrap(text);
  }
  if (record.tags !== undefined) wrapped.tags = record.tags.map(wrap);
  if (record.metadata !== undefined) wrapped.metadata = wrapJson(record.metadata, wrap) as Record<string, unknown>;
  return { ...record, ...wrapped };
}

/** Metadata: every key and every string value. */
function wrapJson(value: unknown, wrap: Wrap): unknown {
  if (typeof value === 'string') return wrap(value);
  if (Array.isArray(value)) return value.map((part) => wrapJson(part, wrap));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [wrap(key), wrapJson(part, wrap)]));
}
