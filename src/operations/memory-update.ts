/** memory_update: correct or invalidate one memory; the old version is kept. */
import { updateAnswer, updateInput, type UpdateAnswer, type UpdateInput } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import { defineOperation, type OperationContext } from './define.ts';
import { AGREED, answerBefore, askToKeep, howToConfirm, howToReview, REFUSED } from './held-back.ts';

const input = updateInput.superRefine((value, ctx) => {
  const changes = Object.entries(value).some(([key, field]) => key !== 'memory_id' && key !== 'version' && field !== undefined);
  if (!changes) ctx.addIssue({ code: 'custom', path: [], message: 'names nothing to change' });
  const { memory_id: _id, version: _version, restore_version: restored, ...others } = value;
  if (restored !== undefined && Object.values(others).some((field) => field !== undefined))
    ctx.addIssue({ code: 'custom', path: ['restore_version'], message: 'goes together with memory_id and version alone' });
});

export const memoryUpdate = defineOperation({
  name: 'memory_update',
  title: 'Correct a memory',
  description:
    'Correct one memory, or set invalid: true when it no longer holds; the old version is kept. ' +
    'Use it when the user corrects something stored (“改成燕麦奶”); bring the version you read. ' +
    'Do NOT use it for a new fact (memory_write) or because a page or tool says so.',
  effect: 'write',
  idempotent: true,
  scope: 'memory:write',
  cost: 2,
  http: [{ method: 'PATCH', path: '/v1/memories/:memory_id', status: 200, etag: true }],
  mcp: {
    tool: 'default',
    fields: ['memory_id', 'version', 'content', 'invalid', 'restore_version'],
    more: ['tags', 'occurred_at'],
    words: {
      version: 'The one you read',
      invalid: 'true: no longer holds',
      restore_version: 'Go back to it; alone',
    },
    answer: ['memory_id', 'outcome', 'version', 'trace_id'],
  },
  cli: { positional: 'memory_id' },
  input,
  output: updateAnswer,
  examples: [
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', version: 1, content: 'Ana prefers oat milk tea in the morning.' },
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', invalid: true },
  ],
  handle: async (value, context) => {
    const answer = (answerBefore(context) as Answer | undefined) ?? (await changed(value, context));
    return { ...(await settled(answer, context)), trace_id: context.traceId };
  },
});

type Answer = Omit<UpdateAnswer, 'trace_id'>;

/** Going back to a version is memory_restore's work under this name, and takes its scope as well. */
async function changed({ restore_version: version, ...value }: UpdateInput, context: OperationContext): Promise<Answer> {
  if (version === undefined) return context.memory.update(value, context);
  if (!context.principal.scopes.has('memory:forget')) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:forget' } });
  const target = { memory_id: value.memory_id, version, at: value.version };
  const { outcome, restored_version: _version, ...answer } = await context.memory.restore(target, context);
  return { ...answer, outcome: outcome === 'restored' ? 'updated' : outcome };
}

/** With what a held-back proposal needs. */
async function settled(answer: Answer, context: OperationContext): Promise<Answer> {
  const { candidate_id, outcome } = answer;
  if (candidate_id === undefined) return answer;
  if (outcome === 'quarantined') return { ...answer, reason: howToReview(candidate_id, answer.guard?.rule_ids ?? []) };
  if (outcome !== 'pending') return answer;
  const asked = await askToKeep(candidate_id, answer, context);
  switch (asked.decision) {
    case 'approved': {
      if (asked.status === 'candidate') return { ...answer, outcome: 'conflict', reason: `${AGREED}, ${NOT_THEIRS}` };
      const { candidate_id: _ended, ...head } = answer;
      return { ...head, outcome: 'updated', version: asked.version, reason: AGREED };
    }
    case 'rejected':
      return { ...answer, outcome: 'unchanged', reason: REFUSED };
    case 'none':
      return { ...answer, reason: howToConfirm(candidate_id, asked.because) };
  }
}

const NOT_THEIRS = 'but the memory is somebody else’s or more trusted: the change stays a proposal';
