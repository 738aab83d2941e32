/** Wire schemas of memory_forget. */
import { z } from 'zod';
import * as c from './common.ts';

export const forgetInput = z.strictObject({
  memory_id: c.memoryId.optional().describe('One memory'),
  version: z.int().min(1).optional().describe('Only if it is still at this version'),
  namespaces: c.namespaces.optional().describe('Where to look'),
  filter: c.filter.optional().describe('All memories that fit; at least one condition'),
  query: c.text(c.LIMITS.queryChars).optional().describe('Memories that answer this'),
  min_score: c.unit.optional().describe('With query: only hits of at least this score, 0.5 by default'),
  mode: z.enum(['soft']).optional().describe('soft: out of every search, restorable by id'),
  dry_run: z.boolean().optional().describe('Only say what would go; by filter or query the first call must be one'),
  plan: z.string().min(1).max(16_384).optional().describe('Plan of the dry run; carries it out'),
});
export type ForgetInput = z.output<typeof forgetInput>;

export const forgetAnswer = z.object({
  forgotten: z.int().describe('How many memories were forgotten by this call'),
  memory_ids: z.array(z.string()).describe('Which (at most 100 named)'),
  skipped: z
    .array(z.object({ memory_id: z.string(), reason: z.string() }))
    .optional()
    .describe('With a plan: memories that it leaves, changed since or a person’s to take (at most 100 named)'),
  count: z.int().optional().describe('Dry run: how many would go'),
  needs_person: z
    .int()
    .optional()
    .describe(
      'Dry run: how many of them are more trusted than this caller and go with a yes of the user whom the client asks, or by the user’s own call',
    ),
  sample: z
    .array(z.object({ memory_id: z.string(), content: z.string(), created_at: z.string(), reference_only: z.boolean() }))
    .optional()
    .describe('Dry run: some of them'),
  plan: z.string().optional().describe('Dry run: bring it with the second call'),
  plan_expires_at: z.string().optional(),
  trace_id: z.string(),
});
export type ForgetAnswer = z.output<typeof forgetAnswer>;
