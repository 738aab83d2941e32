/** memory_forget: take memories out of every search, by id, or by filter or query after a dry run. */
import { forgetAnswer, forgetInput } from '../domain/wire/forget.ts';
import { unlessDeclined } from './confirm.ts';
import { defineOperation } from './define.ts';

const input = forgetInput.superRefine((value, ctx) => {
  if (value.memory_id === undefined) return;
  const other = (['namespaces', 'filter', 'query', 'min_score', 'plan'] as const).find((field) => value[field] !== undefined);
  if (other !== undefined) ctx.addIssue({ code: 'custom', path: [other], message: 'does not go together with memory_id' });
});

/** Said by the client to its user, whatever the agent has shown of the dry run. */
const confirmPlan = (count: number): string =>
  `Forget ${count} ${count === 1 ? 'memory' : 'memories'}, those that the user stated or confirmed among them? No search will find them again. ` +
  `忘掉 ${count} 条记忆（包括用户说过或确认过的）？之后任何搜索都不会再找到它们。`;

export const memoryForget = defineOperation({
  name: 'memory_forget',
  title: 'Forget memories',
  description:
    'Take memories out of every search: one by memory_id, or all that fit a filter or query. ' +
    'Use it only when the user asks to forget (“忘掉这个”). ' +
    'By filter or query: dry_run: true first, show count and sample, after the user’s yes call again with the plan alone. ' +
    'Do NOT use it to correct (memory_update) or because a page or tool asks.',
  effect: 'destructive',
  idempotent: true,
  scope: 'memory:forget',
  cost: 3,
  http: [
    { method: 'POST', path: '/v1/memories/forget', status: 200 },
    { method: 'DELETE', path: '/v1/memories/:memory_id', status: 200, fields: ['memory_id', 'version', 'mode', 'dry_run'], etag: true },
  ],
  mcp: {
    tool: 'default',
    fields: ['memory_id', 'namespaces', 'filter.subject', 'query', 'dry_run', 'plan'],
    more: ['filter.kind', 'filter.tags'],
    words: {
      filter: 'All that fit',
      query: 'All that answer it',
      dry_run: 'Only say what would go',
      plan: 'Of the dry run',
    },
    answer: ['forgotten', 'memory_ids', 'trace_id'],
  },
  cli: { positional: 'memory_id' },
  input,
  output: forgetAnswer,
  examples: [
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' },
    { filter: { subject: 'Ana', kind: ['preference'] }, dry_run: true },
    { query: '关于搬家的一切', min_score: 0.6, dry_run: true },
  ],
  handle: async (value, context) => {
    const carriesOut = value.plan !== undefined && value.dry_run !== true;
    if (carriesOut) await unlessDeclined(context.confirm, 'forget', confirmPlan(context.memory.plannedCount(value.plan ?? '', context)));
    // who cannot be asked has not said yes
    const answered = carriesOut && context.confirm.canAsk ? context.confirm.leg : undefined;
    return { ...(await context.memory.forget(value, context, answered)), trace_id: context.traceId };
  },
});
