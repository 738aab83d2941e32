/** Wire schemas of memory_restore. */
import { z } from 'zod';
import * as c from './common.ts';

export const restoreInput = z.strictObject({
  memory_id: c.memoryId.describe('Which memory'),
  version: z
    .int()
    .min(1)
    .optional()
    .describe('Go back to this version; without it a memory that was forgotten, archived or no longer holds comes back as it was'),
});

/** The memory and, over MCP's memory_update, the version that the caller has read. */
export type RestoreTarget = z.output<typeof restoreInput> & { readonly at?: number | undefined };

export const restoreAnswer = z.object({
  memory_id: z.string().describe('The memory'),
  outcome: z
    .enum(['restored', 'unchanged', 'conflict', 'candidate', 'duplicate', 'quarantined', 'blocked', 'pending'])
    .describe('What became of it'),
  version: z.int().describe('Content version now'),
  restored_version: z.int().optional().describe('Version whose content holds again'),
  candidate_id: z.string().optional().describe('Where a change that was not made is kept as a proposal'),
  reason: z.string().optional().describe('Why, in one sentence'),
  guard: c.guardMark.optional(),
  trace_id: z.string(),
});
export type RestoreAnswer = z.output<typeof restoreAnswer>;
