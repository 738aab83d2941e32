/** memory_list: pages of memories, newest first. */
import { listAnswer, listInput } from '../domain/wire/read.ts';
import { defineOperation } from './define.ts';

export const memoryList = defineOperation({
  name: 'memory_list',
  title: 'List memories',
  description:
    'Page through memories, newest first, with hard conditions only: layer, kind, tags, status, subject, topic, session, task or time. ' +
    'Use it to show somebody what is remembered, to review a session, or to walk over everything that fits a filter. ' +
    'Do NOT use it to answer a question: memory_search ranks by relevance, this does not. ' +
    'next_cursor brings the next page with the same namespaces and filter; null is the end.',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 2,
  http: [{ method: 'GET', path: '/v1/memories', status: 200 }],
  mcp: {
    tool: 'all',
    fields: ['namespaces', 'filter.kind', 'filter.tags', 'filter.subject', 'filter.session_id', 'filter.created', 'limit', 'cursor'],
  },
  input: listInput,
  output: listAnswer,
  examples: [{ limit: 20 }, { filter: { kind: ['preference'], subject: 'Ana' }, limit: 50 }],
  handle: async (value, context) => ({ ...(await context.memory.list(value, context)), trace_id: context.traceId }),
});
