/** Wire schemas of memory_feedback. */
import { z } from 'zod';
import { FEEDBACK_VERDICTS } from '../feedback.ts';
import * as c from './common.ts';

export const FEEDBACK_IDS = 20;

export const feedbackInput = z.strictObject({
  memory_ids: z.array(c.memoryId).min(1).max(FEEDBACK_IDS).optional().describe('Which'),
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, { message: 'is not the trace_id of an answer' })
    .optional()
    .describe('Or the trace_id of a search: all that it returned'),
  verdict: z.enum(FEEDBACK_VERDICTS).describe('Worth'),
  note: c.text(500).optional().describe('Why, in a few words; masked, and shown by no search'),
  answer: c
    .text(c.LIMITS.contentChars)
    .optional()
    .describe('With cited: the answer that was given; only what it draws on counts. Not kept'),
});
export type FeedbackInput = z.output<typeof feedbackInput>;

export const feedbackAnswer = z.object({
  results: z
    .array(
      z.object({
        memory_id: z.string(),
        counted: z.boolean().describe('false: said already today, or not drawn on by the answer'),
        doubt: z.number().optional().describe('Share of its weight that it loses from now on'),
        reason: z.string().optional().describe('Why it was not counted'),
      }),
    )
    .describe('One for each memory'),
  trace_id: z.string(),
});
export type FeedbackAnswer = z.output<typeof feedbackAnswer>;
