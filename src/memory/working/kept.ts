/** What a write to working memory answers, whichever way it came. */
import { isoTime } from '../../domain/clock.ts';
import type { TurnAddAnswer } from '../../domain/wire/session.ts';
import type { Admission } from '../../guard/guard.ts';
import type { MemoryDeps } from '../deps.ts';

type Kept = Omit<TurnAddAnswer, 'turns' | 'trace_id'>;

const MINUTE_MS = 60_000;

/** Nothing was kept of it. */
export function refused({ mark, masked }: Pick<Admission, 'mark'> & { readonly masked: string[] }): Kept {
  const guard = { ...mark, rule_ids: [...mark.rule_ids] };
  return { outcome: 'blocked', reason: 'the guard does not let this into working memory', masked, guard, expires_at: null };
}

export function keptAnswer(
  deps: Pick<MemoryDeps, 'clock' | 'workingLimits'>,
  { record, mark, masked }: Pick<Admission, 'mark' | 'record'> & { readonly masked: string[] },
): Kept {
  const { ttlMs } = deps.workingLimits;
  const candidate = record?.status === 'candidate';
  const minutes = Math.max(1, Math.round(ttlMs / MINUTE_MS));
  return {
    outcome: candidate ? 'candidate' : 'stored',
    reason: `kept in working memory for ${minutes} minutes after its last use${candidate ? ', and shown to people alone' : ''}`,
    masked,
    guard: { ...mark, rule_ids: [...mark.rule_ids] },
    expires_at: isoTime(deps.clock() + ttlMs),
  };
}
