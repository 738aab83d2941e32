/** memory_turns: the last turns of a session; REST and the command line, a tool gets them with the context. */
import { turnsAnswer, turnsInput } from '../domain/wire/session.ts';
import { defineOperation } from './define.ts';

export const memoryTurns = defineOperation({
  name: 'memory_turns',
  title: 'Read the turns of a session',
  description:
    'The last turns of your own session, oldest first, and on demand what was not worth keeping in the last 24 hours. ' +
    'Use it to continue a conversation, or to see what was dropped. ' +
    'Do NOT use it for what earlier sessions said (memory_search).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 1,
  http: [{ method: 'GET', path: '/v1/sessions/:session_id/turns', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'session_id' },
  input: turnsInput,
  output: turnsAnswer,
  examples: [{ session_id: 'trip-to-suzhou', last: 10 }],
  handle: async (value, context) => ({ ...(await context.memory.turns(value, context)), trace_id: context.traceId }),
});
