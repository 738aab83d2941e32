/** memory_reveal: the values that were masked and kept sealed; REST and the command line, never a tool. */
import { revealAnswer, revealInput } from '../domain/wire/keys.ts';
import { defineOperation } from './define.ts';

export const memoryReveal = defineOperation({
  name: 'memory_reveal',
  title: 'Reveal sealed values',
  description:
    'Read the values of a memory that were masked and kept sealed. Use it when a person needs one of them: a phone number, a credential they asked to keep. ' +
    'Do NOT use it to read the memory itself (memory_get), and not for an agent: it takes memory:reveal and a user, and is recorded.',
  effect: 'read',
  idempotent: true,
  scope: 'memory:reveal',
  // a person opens a few a day; whoever takes many at once is stopped soon
  cost: 50,
  http: [{ method: 'POST', path: '/v1/memories/:memory_id/reveal', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'memory_id' },
  input: revealInput,
  output: revealAnswer,
  examples: [{ memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' }],
  handle: async (value, context) => ({ ...(await context.memory.reveal(value, context)), trace_id: context.traceId }),
});
