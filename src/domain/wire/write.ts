/** Wire schemas of memory_write and memory_update. */
import { z } from 'zod';
import { OUTCOMES } from '../memory.ts';
import * as c from './common.ts';
import { taskState } from './state.ts';

export const source = z.strictObject({
  type: c.sourceType.describe('Where the text comes from; may lower the trust, never raise it'),
  uri: c.text(2_048).optional().describe('Address of the page or document'),
  parents: z.array(c.memoryId).max(32).optional().describe('Memories it was derived from'),
});

const VECTOR_MAX = 4_096;

/** As z.array(z.number()), at a seventh of its cost: that one makes two objects for each of a vector's numbers. */
const vector = z
  .unknown()
  .refine((v) => Array.isArray(v) && v.length >= 1 && v.length <= VECTOR_MAX && v.every((x) => Number.isFinite(x)), {
    message: `is not a list of 1 to ${VECTOR_MAX} numbers`,
  })
  .meta({ type: 'array', items: { type: 'number' }, minItems: 1, maxItems: VECTOR_MAX }) as unknown as z.ZodType<number[]>;

export const writeItem = z.strictObject({
  content: c.text(c.LIMITS.contentChars).describe('What to remember, in one self-contained piece; at most 32,000 characters'),
  title: c.name.optional().describe('Short title'),
  namespace: c.namespace.optional().describe('Where it belongs; your own namespace by default'),
  kind: c.kind.optional().describe('What it is: preference, fact, constraint, decision, event, …'),
  layer: c.layer.optional().describe('episodic, semantic, or working: this session alone (needs session_id)'),
  state: taskState
    .optional()
    .describe('working layer: task state to merge in, a JSON object of at most 64 slots and 16 KB; null takes a slot away'),
  subject: c.name.optional().describe('Who or what it is about'),
  topic: c.name.optional().describe('What about the subject, e.g. "favourite tea"'),
  summary: c.text(c.LIMITS.summaryChars).optional().describe('Short form of a long content'),
  tags: c.tags.optional().describe('Labels to filter by'),
  importance: c.unit.optional().describe('0 to 1'),
  confidence: c.unit.optional().describe('0 to 1'),
  occurred_at: c.dateTime.optional().describe('When it happened (ISO 8601)'),
  ttl_seconds: z.int().min(60).max(3_153_600_000).optional().describe('Forget by itself after this many seconds'),
  session_id: c.name.optional().describe('Conversation it belongs to'),
  task_id: c.name.optional().describe('Task it belongs to'),
  task_type: c.name.optional().describe('Type of that task'),
  turn: z.int().min(0).max(1_000_000_000).optional().describe('Turn number within the session'),
  visibility: c.visibility
    .optional()
    .describe(
      'private: only its owner sees it; shared (needs memory:share): all who may read the namespace. Default: shared outside user.* with memory:share, else private',
    ),
  pinned: z.boolean().optional().describe('Keep it from decay'),
  metadata: c.metadata.optional().describe('Free JSON object, at most 8 KB'),
  source: source.optional().describe('Origin of the text, when it is not the caller'),
  admission: z.enum(['auto', 'keep']).optional().describe('keep: store as given, without worth and duplicate checks'),
  secrets: z
    .enum(['drop', 'seal'])
    .optional()
    .describe('seal: passwords and keys in it are masked as ever and kept sealed, for memory_reveal; a person only'),
  vectors: z
    .record(z.string().regex(/^[a-z0-9_]{1,48}$/), vector)
    .optional()
    .describe('Ready vectors by space name (imports and benches); needs memory:admin and the exact dimension'),
});
export type WriteItem = z.output<typeof writeItem>;

export const writeInput = z.strictObject({
  ...writeItem.partial({ content: true }).shape,
  items: z.array(z.unknown()).min(1).max(c.LIMITS.batchItems).optional().describe('Several memories at once; each is judged on its own'),
  wait: z.boolean().optional().describe('Answer only when the memory is settled and searchable (10 s at most)'),
});
export type WriteInput = z.output<typeof writeInput>;

export const writeResult = z.object({
  memory_id: z.string().nullable().describe('Stable id; null for blocked, dropped and invalid items'),
  outcome: z.enum([...OUTCOMES, 'invalid', 'failed']).describe('What became of it'),
  reason: z.string().optional().describe('Why, in one sentence'),
  version: z.int().optional().describe('Content version'),
  settled: z.boolean().describe('false while checks that need vectors are due'),
  replaced: z.array(z.string()).describe('Memories it supersedes'),
  merged_into: z.string().optional().describe('Memory it was merged into'),
  masked: z.array(z.string()).describe('Kinds of secrets that were masked'),
  guard: c.guardMark.optional(),
  errors: z
    .array(z.object({ pointer: z.string(), message: z.string() }))
    .optional()
    .describe('Faults of an invalid item, by JSON pointer'),
});
export type WriteResult = z.output<typeof writeResult>;

export const writeAnswer = z.object({
  results: z.array(writeResult).describe('One for each item, in order'),
  trace_id: z.string().describe('Names this call in the logs'),
});
export type WriteAnswer = z.output<typeof writeAnswer>;

/** Fields an update may set; null takes an optional one away. */
export const updateInput = z.strictObject({
  memory_id: c.memoryId.describe('Which memory'),
  version: z.int().min(1).optional().describe('Update only if it is still at this version'),
  content: c.text(c.LIMITS.contentChars).optional().describe('Corrected text'),
  summary: c.text(c.LIMITS.summaryChars).nullable().optional().describe('Corrected summary'),
  tags: c.tags.optional().describe('All tags, replacing the old ones'),
  importance: c.unit.nullable().optional().describe('0 to 1'),
  confidence: c.unit.nullable().optional().describe('0 to 1'),
  occurred_at: c.dateTime.nullable().optional().describe('When it happened'),
  expires_at: c.dateTime.nullable().optional().describe('When it ends'),
  visibility: c.visibility.optional().describe('private or shared'),
  pinned: z.boolean().optional().describe('Keep it from decay'),
  metadata: z.record(z.string(), z.unknown()).optional().describe('JSON merge patch (RFC 7396) of the metadata'),
  invalid: z.boolean().optional().describe('true: no longer holds; superseded, without a successor'),
  restore_version: z.int().min(1).optional().describe('Go back to this version, alone; needs memory:forget'),
});
export type UpdateInput = z.output<typeof updateInput>;

export const updateAnswer = z.object({
  memory_id: z.string().describe('The memory'),
  outcome: z
    .enum(['updated', 'unchanged', 'conflict', 'candidate', 'duplicate', 'quarantined', 'blocked', 'pending'])
    .describe('What became of it'),
  version: z.int().describe('Content version now'),
  candidate_id: z.string().optional().describe('Where a change that was not made is kept as a proposal'),
  reason: z.string().optional().describe('Why, in one sentence'),
  guard: c.guardMark.optional(),
  trace_id: z.string(),
});
export type UpdateAnswer = z.output<typeof updateAnswer>;
