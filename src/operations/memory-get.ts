/** memory_get: one memory by its id. */
import { getAnswer, getInput } from '../domain/wire/read.ts';
import { defineOperation } from './define.ts';

export const memoryGet = defineOperation({
  name: 'memory_get',
  title: 'Read one memory',
  description:
    'Read one memory by its memory_id: content, trust, status, version; with history, how it changed. ' +
    'Use it before memory_update and when somebody asks since when or why. ' +
    'Do NOT look for things with it (memory_search).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 1,
  http: [{ method: 'GET', path: '/v1/memories/:memory_id', status: 200, etag: true }],
  mcp: {
    tool: 'default',
    fields: ['memory_id', 'history'],
    words: { history: 'All versions too' },
    answer: ['memory_id', 'content', 'status', 'version', 'trust', 'reference_only', 'trace_id'],
  },
  cli: { positional: 'memory_id' },
  input: getInput,
  output: getAnswer,
  examples: [{ memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' }, { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', history: true }],
  handle: async (value, context) => {
    const memory = await context.memory.get(value, context);
    const history =
      value.history === true ? { versions: (await context.memory.history({ memory_id: value.memory_id }, context)).versions } : {};
    return { ...memory, ...history, trace_id: context.traceId };
  },
});
