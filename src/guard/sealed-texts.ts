/** Every text of a record that a caller can set, by field: what the text guard reads, and what a person confirms. */
import type { MemoryRecord } from '../domain/memory.ts';

type Texted = Partial<
  Pick<
    MemoryRecord,
    | 'title'
    | 'content'
    | 'summary'
    | 'subject'
    | 'topic'
    | 'task_type'
    | 'session_id'
    | 'task_id'
    | 'tags'
    | 'keywords'
    | 'entities'
    | 'triggers'
    | 'counter_examples'
    | 'metadata'
  >
>;

/** Texts by field name; lists and metadata as one line for each value, keys included: who confirms a limit confirms its number. Empty ones are left out. */
export function sealedTextsOf(record: Texted): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  const add = (field: keyof Texted, value: unknown): void => {
    const text = stringsOf(value).join('\n');
    if (text !== '') texts[field] = text;
  };
  for (const field of ['title', 'content', 'summary', 'subject', 'topic', 'task_type', 'session_id', 'task_id'] as const)
    add(field, record[field]);
  for (const field of ['tags', 'keywords', 'entities', 'triggers', 'counter_examples', 'metadata'] as const) add(field, record[field]);
  return texts;
}

function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...stringsOf(part)]);
}
