/** memory_write to the layer `working`: judged like any write, then kept in the session and nowhere else. */
import type { TurnRole } from '../../domain/working.ts';
import type { TaskState } from '../../domain/wire/state.ts';
import type { WriteItem, WriteResult } from '../../domain/wire/write.ts';
import type { MemoryDeps } from '../deps.ts';
import { bareResult } from '../item-results.ts';
import type { CallContext } from '../gateway.ts';
import { invalid } from '../record.ts';
import { admitText, sourceOf } from './draft.ts';
import { keptAnswer, refused } from './kept.ts';
import { admitState, putState } from './state.ts';

/** What working memory takes of an item. */
export type WorkingWrite = Pick<WriteItem, 'namespace' | 'source'> & {
  readonly session_id?: string | undefined;
  readonly content?: string | undefined;
  readonly state?: TaskState | undefined;
};

/** What became of it before anything was kept. */
export type WorkingJudged = { readonly result: WriteResult } | { readonly keep: () => Promise<WriteResult> };

/**
 * A content is a turn of its writer: a person's `user`, an agent's `assistant`, `tool` for what comes from elsewhere; a state is merged into
 * the one there is. Both or neither is let in. Takes the item as it was given, not masked yet.
 * @throws ERR_REQUEST_INVALID without a session, or for an actor who may not write the layer; ERR_NAMESPACE_FORBIDDEN, ERR_GUARD_UNAVAILABLE;
 * `keep` throws ERR_WORKING_UNAVAILABLE, and ERR_REQUEST_INVALID for a state that has grown too large.
 */
export async function judgeWorking(deps: MemoryDeps, call: CallContext, item: WorkingWrite): Promise<WorkingJudged> {
  const { actor } = call.principal;
  const { session_id, namespace, content, state } = item;
  if (!deps.layers.writable[actor].includes('working')) throw invalid('/layer', 'working is not written directly by this actor');
  if (session_id === undefined) throw invalid('/session_id', 'is required: working memory belongs to a session');
  if (content === undefined && state === undefined) throw invalid('/content', 'is required, unless state is given');
  if ((item.source?.parents ?? []).length > 0) throw invalid('/source/parents', 'is for long-term memory');
  const role = roleOf(actor, item.source);
  const place = { session_id, namespace };
  const turn = content === undefined ? undefined : await admitText(deps, call, { ...place, content, source: sourceOf(role, item.source) });
  const slots = state === undefined ? undefined : await admitState(deps, call, { ...place, state, source: item.source });
  const all = [turn, slots].filter((one) => one !== undefined);
  const barred = all.find(({ sealed }) => sealed === undefined);
  if (barred !== undefined) return { result: resultOf(refused(barred)) };
  return {
    keep: async () => {
      if (slots?.sealed !== undefined && state !== undefined) await putState(deps, slots.sealed, state, 'merge');
      if (turn?.sealed !== undefined) await deps.working.addTurn(turn.sealed, role);
      const masked = [...new Set(all.flatMap((one) => one.masked))];
      const [first] = all.filter(({ record }) => record?.status === 'candidate').concat(all);
      return first === undefined ? bareResult('dropped') : resultOf({ ...keptAnswer(deps, first), masked });
    },
  };
}

function roleOf(actor: CallContext['principal']['actor'], source: WriteItem['source']): TurnRole {
  if (source !== undefined && source.type !== 'user' && source.type !== 'agent') return 'tool';
  return actor === 'agent' || source?.type === 'agent' ? 'assistant' : 'user';
}

function resultOf({ outcome, reason, masked, guard }: ReturnType<typeof keptAnswer>): WriteResult {
  return { ...bareResult(outcome, reason), masked, ...(guard === undefined ? {} : { guard }) };
}
