/** memory_confirm: confirm or reject a held-back write; REST and the command line, never a tool. */
import { reviewAnswer, reviewInput } from '../domain/wire/review.ts';
import { defineOperation } from './define.ts';

export const memoryConfirm = defineOperation({
  name: 'memory_confirm',
  title: 'Confirm or reject a held-back write',
  description:
    'Decide on a write that waits for a confirmation: approve makes it an active memory you confirmed, reject ends it. Of an active memory approve confirms your own, with memory:admin somebody else’s for all its readers, and else somebody else’s for you alone; reject takes that back. ' +
    'Use it with the content_hash of the text you were shown; a text that has changed since is refused. Do NOT use it to correct a memory (memory_update).',
  effect: 'write',
  idempotent: false,
  scope: 'memory:confirm',
  cost: 2,
  http: [{ method: 'POST', path: '/v1/confirmations/:memory_id/:decision', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'memory_id' },
  input: reviewInput,
  output: reviewAnswer,
  examples: [
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', decision: 'approve', content_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' },
  ],
  handle: async (value, context) => ({ ...(await context.memory.decide('pending', value, context)), trace_id: context.traceId }),
});
