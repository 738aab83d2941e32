/** memory_state_set: the task state of a session, replaced or merged; REST and the command line, a tool writes through memory_write. */
import { stateSetAnswer, stateSetInput } from '../domain/wire/session.ts';
import { defineOperation } from './define.ts';

export const memoryStateSet = defineOperation({
  name: 'memory_state_set',
  title: 'Set the task state of a session',
  description:
    'Keep named slots of JSON for a running session, 16 KB in all, for an hour after it was last used. ' +
    'Use it for where a task stands: step, goal, open questions, partial results. ' +
    'Do NOT use it for what should outlive the session (memory_write).',
  effect: 'write',
  idempotent: true,
  transient: () => true,
  scope: 'memory:write',
  cost: 1,
  http: [{ method: 'PUT', path: '/v1/sessions/:session_id/state', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'session_id' },
  input: stateSetInput,
  output: stateSetAnswer,
  examples: [{ session_id: 'trip-to-suzhou', state: { step: 2, goal: '订一家能带狗的酒店', candidates: ['平江客栈'] }, merge: true }],
  handle: async (value, context) => ({ ...(await context.memory.setState(value, context)), trace_id: context.traceId }),
});
