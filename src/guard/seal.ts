/** What of a stored record only admission may set: a change of its state leaves all of it as it was; the guard asks before it seals one again. */
import type { MemoryRecord } from '../domain/memory.ts';

/** Identity and text. */
const SEALED_FIELDS = [
  'memory_id',
  'tenant',
  'namespace',
  'owner',
  'visibility',
  'content',
  'title',
  'summary',
  'subject',
  'topic',
  'tags',
  'keywords',
  'metadata',
  'taint',
  'parents',
  'origin',
  'triggers',
  'counter_examples',
] as const satisfies readonly (keyof MemoryRecord)[];

/** Whose confirmations a record carries. */
const CONFIRMATIONS = ['confirmed_by', 'confirmed_for'] as const;

/** Name of what was changed or raised against the record as it was stored; undefined when nothing was. */
export function changedSeal(record: MemoryRecord, from: MemoryRecord): string | undefined {
  if (record.trust_tier > from.trust_tier) return 'trust_tier';
  const claimed = CONFIRMATIONS.find(
    (name) => record.guard[name] !== undefined && JSON.stringify(record.guard[name]) !== JSON.stringify(from.guard[name]),
  );
  if (claimed !== undefined) return `guard.${claimed}`;
  return SEALED_FIELDS.find((field) => record[field] !== from[field] && JSON.stringify(record[field]) !== JSON.stringify(from[field]));
}
