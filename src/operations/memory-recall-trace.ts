/** memory_recall_trace: why a search or a context block brought what it brought; REST and the command line, never a tool. */
import { recallTraceAnswer, recallTraceInput } from '../domain/wire/recall.ts';
import { defineOperation } from './define.ts';

export const memoryRecallTrace = defineOperation({
  name: 'memory_recall_trace',
  title: 'Recall trace',
  description:
    'Show what a search or a context block returned, by its trace_id: ids, scores and what they are made of, for 30 days. ' +
    'Use it to find out why an answer was given from memory. ' +
    'Do NOT use it to search again (memory_search with explain), or for who did what (memory_audit).',
  effect: 'read',
  idempotent: true,
  // one's own; those of others need memory:audit besides
  scope: 'memory:read',
  cost: 5,
  http: [{ method: 'GET', path: '/v1/recalls/:trace_id', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'trace_id' },
  input: recallTraceInput,
  output: recallTraceAnswer,
  examples: [{ trace_id: '7d5d747be160e280504c099d984bcfe0' }],
  handle: async (value, context) => ({ ...(await context.memory.recallTrace(value, context)), trace_id: context.traceId }),
});
