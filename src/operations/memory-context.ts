/** memory_context: what is remembered for the turn at hand, as one block for its prompt. */
import { contextAnswer, contextInput } from '../domain/wire/context.ts';
import { defineOperation } from './define.ts';
import { checkTexts, textPoints } from './two-texts.ts';

export const memoryContext = defineOperation({
  name: 'memory_context',
  title: 'Memories for this turn',
  description:
    'Get what is remembered for this turn as one block: rules, facts, similar cases, turns of the session. ' +
    'Use it at the start of a turn or task. ' +
    'Do NOT use it for one precise question (memory_search). 每轮开始先取。',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 2,
  extraCost: ({ query, queries, effort }) => textPoints({ query, queries }) + (effort === 'high' ? HIGH_EFFORT_POINTS : 0),
  turnOf: (value) => value.turn_id,
  // A POST, because query strings land in access logs.
  http: [{ method: 'POST', path: '/v1/context', status: 200 }],
  mcp: {
    tool: 'default',
    fields: ['query', 'token_budget', 'session_id', 'turn_id'],
    more: ['queries', 'namespaces', 'task_id', 'task_type', 'effort', 'lang'],
    words: {
      query: 'The turn or task',
      queries: 'Another wording, such as your rewrite beside the turn itself',
      token_budget: '1000 by default',
      session_id: 'Adds its last turns',
      turn_id: 'Once each turn',
    },
    answer: ['context', 'items', 'nothing_relevant', 'trace_id'],
    required: ['query'],
  },
  cli: { positional: 'query' },
  input: contextInput.superRefine(checkTexts),
  output: contextAnswer,
  examples: [
    { query: 'Plan a breakfast with Ana.', token_budget: 400 },
    { query: '给李明点一份晚餐', token_budget: 400, lang: 'zh', effort: 'high' },
    { query: 'And for the two of them?', queries: ['Plan a breakfast for Ana and Ben.'] },
  ],
  handle: async (value, context) => ({ ...(await context.memory.context(value, context)), trace_id: context.traceId }),
});

/** Up to three queries more, and five times the candidates. */
const HIGH_EFFORT_POINTS = 4;
