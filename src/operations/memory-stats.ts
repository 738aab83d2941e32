/** memory_stats: counts and the state of the service. */
import { statsAnswer, statsInput } from '../domain/wire/stats.ts';
import { defineOperation } from './define.ts';

export const memoryStats = defineOperation({
  name: 'memory_stats',
  title: 'State and counts',
  description:
    'Tell how many memories the token may read, by namespace, how many still wait for their vectors, and how the service is. ' +
    'Use it to see whether an import has settled or why a search is degraded. ' +
    'Do NOT use it to find or to list memories (memory_search, memory_list).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 5,
  http: [{ method: 'GET', path: '/v1/stats', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { aliases: ['stats'], name: 'status' },
  input: statsInput,
  output: statsAnswer,
  examples: [{}, { namespaces: ['team.sales'] }],
  handle: async (value, context) => ({ ...(await context.memory.stats(value, context)), trace_id: context.traceId }),
});
