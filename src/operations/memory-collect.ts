/** memory_collect: switches collecting in a namespace; REST and the command line, never a tool. */
import { collectInput, namespaceAnswer } from '../domain/wire/namespace.ts';
import { defineOperation } from './define.ts';

export const memoryCollect = defineOperation({
  name: 'memory_collect',
  title: 'Switch collecting on or off',
  description:
    'Switch whether a namespace takes new memories: with collect off, what is written there is dropped, and what is in it stays and can be corrected. ' +
    'Use it for your own namespace, or with memory:admin for others. Do NOT use it to forget what is stored (memory_forget).',
  effect: 'write',
  idempotent: true,
  scope: 'memory:write',
  cost: 2,
  http: [{ method: 'PUT', path: '/v1/namespaces/:namespace', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'namespace' },
  input: collectInput,
  output: namespaceAnswer,
  examples: [{ namespace: 'user.alice', collect: 'on' }],
  handle: async (value, context) => ({ ...(await context.memory.switchCollect(value, context)), trace_id: context.traceId }),
});
