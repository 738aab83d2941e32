/** memory_feedback: useful, wrong, outdated or cited; moves the rank of what was recalled. */
import { feedbackAnswer, feedbackInput } from '../domain/wire/feedback.ts';
import { defineOperation } from './define.ts';

const input = feedbackInput.superRefine((value, ctx) => {
  if ((value.memory_ids === undefined) === (value.trace_id === undefined))
    ctx.addIssue({ code: 'custom', path: ['memory_ids'], message: 'or trace_id, one of them' });
  if (value.answer !== undefined && value.verdict !== 'cited')
    ctx.addIssue({ code: 'custom', path: ['answer'], message: 'goes together with the verdict cited' });
});

export const memoryFeedback = defineOperation({
  name: 'memory_feedback',
  title: 'Rate memories',
  description: 'Rate recalled memories. Use it when the user says so or you cite them. Do NOT use it to correct (memory_update).',
  effect: 'write',
  idempotent: true,
  scope: 'memory:write',
  cost: 2,
  // each memory is a document of its own to change
  extraCost: (value) => (value.memory_ids?.length ?? 5) - 1,
  http: [{ method: 'POST', path: '/v1/feedback', status: 200 }],
  mcp: { tool: 'default', fields: ['memory_ids', 'verdict'], required: ['memory_ids'] },
  input,
  output: feedbackAnswer,
  examples: [{ memory_ids: ['0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'], verdict: 'useful' }],
  handle: async (value, context) => ({ ...(await context.memory.feedback(value, context)), trace_id: context.traceId }),
});
