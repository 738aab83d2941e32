/** memory_release: release or reject a quarantined write; REST and the command line, never a tool. */
import { reviewAnswer, reviewInput } from '../domain/wire/review.ts';
import { defineOperation } from './define.ts';

export const memoryRelease = defineOperation({
  name: 'memory_release',
  title: 'Release or reject a quarantined write',
  description:
    'Decide on a quarantined write: approve lets it out as an active memory you confirmed, reject ends it. Use it with the content_hash of the text you were shown. ' +
    'Do NOT use it to correct a text: reject it and write the right one.',
  effect: 'write',
  idempotent: false,
  scope: 'memory:confirm',
  cost: 2,
  http: [{ method: 'POST', path: '/v1/quarantine/:memory_id/:decision', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { positional: 'memory_id' },
  input: reviewInput,
  output: reviewAnswer,
  examples: [
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', decision: 'reject', content_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' },
  ],
  handle: async (value, context) => ({ ...(await context.memory.decide('quarantined', value, context)), trace_id: context.traceId }),
});
