/** Wire schemas of what a person decides on: held-back writes (confirmations) and quarantined ones. */
import { z } from 'zod';
import * as c from './common.ts';

export const reviewListInput = z.strictObject({
  limit: z.int().min(1).max(c.LIMITS.listLimit).optional().describe('Page size, 50 by default'),
  cursor: z.string().min(1).max(4_096).optional().describe('next_cursor of the page before'),
  memory_id: c.memoryId.optional().describe('This one alone; among the confirmations also an active memory that you may read'),
});
export type ReviewListInput = z.output<typeof reviewListInput>;

export const reviewItem = z.object({
  memory_id: z.string(),
  namespace: z.string(),
  owner: z.string(),
  status: z.string().describe('pending or quarantined: it waits; active: you may confirm it'),
  texts: z
    .record(z.string(), z.string())
    .describe('Every text of the memory by field, exactly as stored; characters that do not show or change direction are spelled <U+…>'),
  content_hash: z.string().describe('Stands for these texts: bring it with the decision'),
  trust: c.trustView,
  guard: c.guardMark,
  created_at: z.string(),
  expires_at: z.string().optional().describe('Undecided until then, it is dropped'),
});
export type ReviewItem = z.output<typeof reviewItem>;

export const reviewListAnswer = z.object({
  items: z.array(reviewItem).describe('Newest first'),
  next_cursor: z.string().nullable().describe('Brings the next page; null at the end'),
  trace_id: z.string(),
});
export type ReviewListAnswer = z.output<typeof reviewListAnswer>;

export const reviewInput = z.strictObject({
  memory_id: c.memoryId.describe('Which memory'),
  decision: z
    .enum(['approve', 'reject'])
    .describe('approve makes it an active memory that you confirmed; reject ends it, or takes back what you confirmed of another one’s'),
  content_hash: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/)
    .describe('content_hash of the item as it was shown'),
});
export type ReviewInput = z.output<typeof reviewInput>;

export const reviewAnswer = z.object({
  memory_id: z.string(),
  outcome: z.enum(['approved', 'rejected']),
  status: z.string().describe('As the memory stands now: superseded where its slot has moved on since it was said'),
  version: z.int(),
  superseded_by: z.string().optional(),
  reason: z.string().optional(),
  trust: c.trustView,
  trace_id: z.string(),
});
export type ReviewAnswer = z.output<typeof reviewAnswer>;
