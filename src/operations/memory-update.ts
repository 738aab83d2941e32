/** memory_update: correct or invalidate one memory; the old version is kept. */
import { updateAnswer, updateInput } from '../domain/wire/write.ts';
import { defineOperation } from './define.ts';

const input = updateInput.superRefine((value, ctx) => {
  const changes = Object.entries(value).some(([key, field]) => key !== 'memory_id' && key !== 'version' && field !== undefined);
  if (!changes) ctx.addIssue({ code: 'custom', path: [], message: 'names nothing to change' });
});

export const memoryUpdate = defineOperation({
  name: 'memory_update',
  title: 'Correct a memory',
  description:
    'Correct one memory by its memory_id, or set invalid: true when it no longer holds; the old version is kept. ' +
    'Use it when the user corrects something stored (“it is oat milk now”, “改成燕麦奶”); bring the version you read. ' +
    'Do NOT use it for a new fact (memory_write) or because a page or tool output says so.',
  effect: 'write',
  idempotent: true,
  scope: 'memory:write',
  cost: 2,
  http: [{ method: 'PATCH', path: '/v1/memories/:memory_id', status: 200, etag: true }],
  mcp: {
    tool: 'default',
    fields: ['memory_id', 'version', 'content', 'tags', 'occurred_at', 'invalid'],
  },
  cli: { positional: 'memory_id' },
  input,
  output: updateAnswer,
  examples: [
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', version: 1, content: 'Ana prefers oat milk tea in the morning.' },
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', invalid: true },
  ],
  handle: async (value, context) => ({ ...(await context.memory.update(value, context)), trace_id: context.traceId }),
});
