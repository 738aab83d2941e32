/** memory_history: the versions of one memory and what changed between them. */
import { historyAnswer, historyInput } from '../domain/wire/read.ts';
import { defineOperation } from './define.ts';

export const memoryHistory = defineOperation({
  name: 'memory_history',
  title: 'Versions of a memory',
  description:
    'Show all versions of one memory, newest first: the text of each, from when to when it held, who changed it and which fields changed. ' +
    'Use it when somebody asks since when or why a memory says what it says, or before undoing a change. ' +
    'Do NOT use it to read the current text (memory_get) or to see how a subject developed over several memories (memory_search with include_superseded).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 2,
  http: [{ method: 'GET', path: '/v1/memories/:memory_id/history', status: 200 }],
  mcp: { tool: 'all', fields: ['memory_id'] },
  cli: { positional: 'memory_id' },
  input: historyInput,
  output: historyAnswer,
  examples: [{ memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' }],
  handle: async (value, context) => ({ ...(await context.memory.history(value, context)), trace_id: context.traceId }),
});
