/** memory_summarize: what a namespace holds of a time, in a few sentences that say what they rest on. */
import { summarizeAnswer, summarizeInput } from '../domain/wire/summary.ts';
import { defineOperation } from './define.ts';

export const memorySummarize = defineOperation({
  name: 'memory_summarize',
  title: 'Summarize memories',
  description:
    'Sum up what one namespace holds of a time, with the memory_ids each sentence rests on. ' +
    'Use it for an overview of a day, a project or a topic. ' +
    'Do NOT use it for one precise question (memory_search). Nothing is kept unless store is true.',
  effect: 'write',
  idempotent: false,
  scope: 'memory:write',
  cost: 20,
  http: [{ method: 'POST', path: '/v1/summaries', status: 200 }],
  mcp: { tool: 'all', fields: ['namespace', 'created', 'query', 'sentences', 'store'] },
  cli: { aliases: ['summary'] },
  input: summarizeInput,
  output: summarizeAnswer,
  examples: [
    { created: { gte: '2020-01-01T00:00:00Z' }, sentences: 3 },
    { query: '饮食', lang: 'zh', store: true },
  ],
  handle: async (value, context) => ({ ...(await context.memory.summarize(value, context)), trace_id: context.traceId }),
});
