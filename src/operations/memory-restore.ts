/** memory_restore: an earlier version holds again, or a memory that ended comes back; over MCP a part of memory_update. */
import { restoreAnswer, restoreInput } from '../domain/wire/restore.ts';
import { defineOperation } from './define.ts';

export const memoryRestore = defineOperation({
  name: 'memory_restore',
  title: 'Restore a memory',
  description:
    'Go back to an earlier version of one memory in one step, or bring back one that was forgotten, archived or no longer holds; ' +
    'that is a new version, and the ones in between stay in the history. ' +
    'Use it when somebody wants a change or a forgetting undone (“撤销刚才的修改”); memory_history tells the versions. ' +
    'Do NOT use it to correct a text (memory_update).',
  effect: 'write',
  idempotent: true,
  scope: 'memory:forget',
  cost: 3,
  http: [{ method: 'POST', path: '/v1/memories/:memory_id/restore', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'memory_id' },
  input: restoreInput,
  output: restoreAnswer,
  examples: [{ memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', version: 1 }],
  handle: async (value, context) => ({ ...(await context.memory.restore(value, context)), trace_id: context.traceId }),
});
