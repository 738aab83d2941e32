/** memory_write: store one memory or a batch; the first step of everything that is remembered. */
import { writeAnswer, writeInput, type WriteInput, type WriteResult } from '../domain/wire/write.ts';
import { defineOperation, type OperationContext } from './define.ts';
import { AGREED, answerBefore, askToKeep, howToConfirm, howToReview, REFUSED } from './held-back.ts';

const ITEMS_PER_POINT = 25;

/** Either one item in the fields themselves, or `items`; a mixture would leave open which fields go where. */
const input = writeInput.superRefine((value, ctx) => {
  if (value.items === undefined) {
    if (value.content === undefined && (value.layer !== 'working' || value.state === undefined))
      ctx.addIssue({ code: 'custom', path: ['content'], message: 'is required, unless items is given' });
    return;
  }
  const item = Object.entries(value).find(([key, field]) => key !== 'items' && key !== 'wait' && field !== undefined);
  if (item !== undefined) ctx.addIssue({ code: 'custom', path: [item[0]], message: 'goes into each of the items when items is given' });
});

export const memoryWrite = defineOperation({
  name: 'memory_write',
  title: 'Remember something',
  description:
    'Store what matters in later sessions: a preference, fact, constraint, decision or result. ' +
    'Use it when the user states something lasting or says “remember” / “记住”, and at the end of a task. ' +
    'Do NOT store small talk, guesses, secrets or what is stored already; name the source of text from a page or tool. ' +
    '只记长期有用的，不记密码。',
  effect: 'write',
  idempotent: false,
  transient: ({ layer, items }) => layer === 'working' && items === undefined,
  // what is pending may be asked about
  foretold: (results) => (results.some(({ outcome }) => outcome === 'pending') ? undefined : { results }),
  // an item of a batch that names a parent it may not see fails as a single one does
  silent: (_input, { results }) => results.some(({ errors = [] }) => errors.some(({ pointer }) => pointer.endsWith('/source/parents'))),
  scope: 'memory:write',
  cost: 2,
  extraCost: (value) => Math.floor((value.items?.length ?? 0) / ITEMS_PER_POINT),
  http: [{ method: 'POST', path: '/v1/memories', status: 200, idempotencyKey: true, largeBody: true }],
  mcp: {
    tool: 'default',
    fields: [
      ...['content', 'namespace', 'kind', 'layer', 'state', 'subject', 'topic', 'tags', 'occurred_at', 'session_id'],
      ...['source.type', 'source.uri', 'wait'],
    ],
    required: ['content'],
    words: {
      content: 'One self-contained piece in the user’s language',
      namespace: 'Your own by default',
      kind: 'What it is',
      layer: 'working: for this session alone',
      state: 'With layer working: slots of its task',
      topic: 'What about it',
      tags: 'Labels',
      occurred_at: 'When it happened',
      session_id: 'Its conversation',
      source: 'If not the caller’s words',
      'source.type': 'May lower trust only',
      'source.uri': 'Address',
      wait: 'Until searchable',
    },
  },
  cli: { positional: 'content', aliases: ['remember'] },
  input,
  output: writeAnswer,
  examples: [
    {
      content: 'Ana prefers green tea in the morning and never drinks coffee.',
      kind: 'preference',
      subject: 'Ana',
      topic: 'morning drink',
      tags: ['drinks'],
    },
    { content: '李明对花生过敏，点餐时要避开花生酱。', kind: 'constraint', subject: '李明', topic: '过敏', wait: true },
    {
      items: [
        { content: 'The release train leaves every second Tuesday.', kind: 'fact' },
        { content: 'Build 4711 failed because the disk was full.', kind: 'event', occurred_at: '2026-05-04T09:30:00Z' },
      ],
    },
  ],
  handle: async (value, context) => {
    const before = answerBefore(context) as WriteResult | undefined;
    const results = before === undefined ? (await context.memory.write(value, context)).results : [before];
    return { results: await Promise.all(results.map((result) => settled(result, value, context))), trace_id: context.traceId };
  },
});

/**
 * With what a held-back item needs. Only a single item is asked about: a yes to a list is a yes to what nobody read, and over MCP, the
 * only front end that can ask, a call carries one item.
 */
async function settled(result: WriteResult, input: WriteInput, context: OperationContext): Promise<WriteResult> {
  const { memory_id, outcome } = result;
  if (memory_id === null) return result;
  if (outcome === 'quarantined') return { ...result, reason: howToReview(memory_id, result.guard?.rule_ids ?? []) };
  if (outcome !== 'pending') return result;
  if (input.items !== undefined) return { ...result, reason: howToConfirm(memory_id) };
  const answer = await askToKeep(memory_id, result, context);
  switch (answer.decision) {
    case 'approved':
      return { ...result, outcome: 'stored', version: answer.version, reason: AGREED };
    case 'rejected':
      return { ...result, memory_id: null, outcome: 'dropped', reason: REFUSED };
    case 'none':
      return { ...result, reason: howToConfirm(memory_id, answer.because) };
  }
}
