/** memory_quarantine: quarantined writes; REST and the command line, never a tool. */
import { reviewListAnswer, reviewListInput } from '../domain/wire/review.ts';
import { defineOperation } from './define.ts';

export const memoryQuarantine = defineOperation({
  name: 'memory_quarantine',
  title: 'Quarantined writes',
  description:
    'List what the guard has quarantined, newest first, each with its exact text, the rules that caught it and the content_hash that a decision must bring. Agents never see any of it. ' +
    'Use it to find what was caught wrongly. Do NOT use it as a list of memories (memory_list).',
  effect: 'read',
  idempotent: true,
  silent: ({ memory_id: memoryId }, { items }) => memoryId !== undefined && items.length === 0,
  scope: 'memory:confirm',
  cost: 2,
  http: [{ method: 'GET', path: '/v1/quarantine', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  input: reviewListInput,
  output: reviewListAnswer,
  examples: [{ limit: 20 }],
  handle: async (value, context) => ({ ...(await context.memory.listForReview('quarantined', value, context)), trace_id: context.traceId }),
});
