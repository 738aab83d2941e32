/** memory_state: the task state of a session; REST and the command line. */
import { stateAnswer, stateInput } from '../domain/wire/session.ts';
import { defineOperation } from './define.ts';

export const memoryState = defineOperation({
  name: 'memory_state',
  title: 'Read the task state of a session',
  description:
    'The named slots that were kept for your own session, each with who wrote it. ' +
    'Use it to go on with a task where it stood. ' +
    'Do NOT use it for what earlier sessions found out (memory_search).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 1,
  http: [{ method: 'GET', path: '/v1/sessions/:session_id/state', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'session_id' },
  input: stateInput,
  output: stateAnswer,
  examples: [{ session_id: 'trip-to-suzhou' }],
  handle: async (value, context) => ({ ...(await context.memory.state(value, context)), trace_id: context.traceId }),
});
