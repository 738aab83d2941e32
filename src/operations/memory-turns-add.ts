/** memory_turns_add: puts a turn at the end of a session in working memory; REST and the command line, a tool writes through memory_write. */
import { turnAddAnswer, turnAddInput } from '../domain/wire/session.ts';
import { defineOperation } from './define.ts';

export const memoryTurnsAdd = defineOperation({
  name: 'memory_turns_add',
  title: 'Add a turn to a session',
  description:
    'Keep one turn of a running session in working memory: the last 20 are held, for an hour after the session was last used. ' +
    'Use it for every turn of a conversation, so that a prompt can be made from the last ones. ' +
    'Do NOT use it for what should outlive the session (memory_write).',
  effect: 'write',
  idempotent: false,
  transient: () => true,
  scope: 'memory:write',
  cost: 1,
  http: [{ method: 'POST', path: '/v1/sessions/:session_id/turns', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'content' },
  input: turnAddInput,
  output: turnAddAnswer,
  examples: [{ session_id: 'trip-to-suzhou', role: 'user', content: '我们周五出发，帮我找能带狗的酒店。' }],
  handle: async (value, context) => ({ ...(await context.memory.addTurn(value, context)), trace_id: context.traceId }),
});
