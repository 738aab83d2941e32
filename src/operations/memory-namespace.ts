/** memory_namespace: whether a namespace takes new memories; REST and the command line, never a tool. */
import { namespaceAnswer, namespaceInput } from '../domain/wire/namespace.ts';
import { defineOperation } from './define.ts';

export const memoryNamespace = defineOperation({
  name: 'memory_namespace',
  title: 'State of a namespace',
  description:
    'Tell whether a namespace takes new memories (collect). Use it when a write was dropped. ' +
    'Do NOT use it to count or to list memories (memory_stats, memory_list).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 1,
  http: [{ method: 'GET', path: '/v1/namespaces/:namespace', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'namespace' },
  input: namespaceInput,
  output: namespaceAnswer,
  examples: [{ namespace: 'user.alice' }],
  handle: async (value, context) => ({ ...(await context.memory.readNamespace(value, context)), trace_id: context.traceId }),
});
