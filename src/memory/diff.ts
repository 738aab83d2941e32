/** What changed from one version of a memory to the next, field by field; the history shows it. */
import { canonicalJson } from '../domain/canonical-json.ts';
import type { MemoryRecord } from '../domain/memory.ts';

/** Fields a person or the life cycle changes; derived and internal ones are left out. */
export const COMPARED_FIELDS = [
  'content',
  'title',
  'summary',
  'subject',
  'topic',
  'kind',
  'layer',
  'tags',
  'metadata',
  'importance',
  'confidence',
  'occurred_at',
  'expires_at',
  'visibility',
  'pinned',
  'status',
  'reason',
  'trust_tier',
] as const satisfies readonly (keyof MemoryRecord)[];

export type ComparedField = (typeof COMPARED_FIELDS)[number];

/** Names of the fields whose values differ; absent and present differ, key order does not matter. */
export function changedFields(before: MemoryRecord, after: MemoryRecord): readonly ComparedField[] {
  return COMPARED_FIELDS.filter((field) => canonicalJson(before[field] ?? null) !== canonicalJson(after[field] ?? null));
}
