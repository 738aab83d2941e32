/** Fields a search brings back: all that screening and ranking read; vectors, lexical fields and originals stay in the index. */
import type { HitRecord } from '../domain/ranking.ts';

/** A table, so that a field added to HitRecord and forgotten here is a compile error. */
const FIELDS: Readonly<Record<keyof HitRecord, true>> = {
  doc_type: true,
  memory_id: true,
  tenant: true,
  namespace: true,
  owner: true,
  visibility: true,
  layer: true,
  kind: true,
  subject: true,
  topic: true,
  task_id: true,
  task_type: true,
  session_id: true,
  turn: true,
  title: true,
  content: true,
  summary: true,
  tags: true,
  importance: true,
  confidence: true,
  access_level: true,
  created_at: true,
  occurred_at: true,
  event_at: true,
  expires_at: true,
  trust_tier: true,
  origin: true,
  guard: true,
  status: true,
  version: true,
  fingerprint: true,
  valid_from: true,
  valid_to: true,
  supersedes: true,
  superseded_by: true,
  conflict_with: true,
  doubt: true,
  feedback: true,
};

export const HIT_FIELDS: readonly string[] = Object.keys(FIELDS);

/** Name of the inner hits that carry the best passage; its text is at `_source.text`. */
export const PASSAGE_INNER_HITS = 'passage';
