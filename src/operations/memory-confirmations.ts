/** memory_confirmations: writes that wait for a confirmation; REST and the command line, never a tool. */
import { reviewListAnswer, reviewListInput } from '../domain/wire/review.ts';
import { defineOperation } from './define.ts';

export const memoryConfirmations = defineOperation({
  name: 'memory_confirmations',
  title: 'Writes that wait for a confirmation',
  description:
    'List what the guard holds back until a person confirms it, newest first, each with its exact text, the rules that caught it and the content_hash that a decision must bring. ' +
    'Use it to see what an agent or a form wanted to remember and may not by itself; with memory_id for that one alone, also an active memory that you want to confirm. Do NOT use it as a list of memories (memory_list).',
  effect: 'read',
  idempotent: true,
  silent: ({ memory_id: memoryId }, { items }) => memoryId !== undefined && items.length === 0,
  scope: 'memory:confirm',
  cost: 2,
  http: [{ method: 'GET', path: '/v1/confirmations', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  input: reviewListInput,
  output: reviewListAnswer,
  examples: [{ limit: 20 }],
  handle: async (value, context) => ({ ...(await context.memory.listForReview('pending', value, context)), trace_id: context.traceId }),
});
