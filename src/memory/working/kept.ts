/** What a write to working memory answers, whichever way it came. */
import { isoTime } from '../../domain/clock.ts';
import type { TurnAddAnswer } from '../../domain/wire/session.ts';
import type { MemoryDeps } from '../deps.ts';
import { COLLECTION_OFF } from '../item-results.ts';
import type { WorkingAdmission } from './draft.ts';

type Kept = Omit<TurnAddAnswer, 'turns' | 'trace_id'>;

const MINUTE_MS = 60_000;

/** Nothing was kept of it. */
export function refused({ mark, masked }: Pick<WorkingAdmission, 'mark' | 'masked'>): Kept {
  if (mark === undefined) return { outcome: 'dropped', reason: COLLECTION_OFF, masked, expires_at: null };
  return { outcome: 'blocked', reason: 'the guard does not let this into working memory', masked, ...guardOf(mark), expires_at: null };
}

function guardOf(mark: WorkingAdmission['mark']): Pick<Kept, 'guard'> {
  return mark === undefined ? {} : { guard: { ...mark, rule_ids: [...mark.rule_ids] } };
}

export function keptAnswer(
  deps: Pick<MemoryDeps, 'clock' | 'workingLimits'>,
  { record, mark, masked }: Pick<WorkingAdmission, 'mark' | 'record' | 'masked'>,
): Kept {
  const { ttlMs } = deps.workingLimits;
  const candidate = record?.status === 'candidate';
  const minutes = Math.max(1, Math.round(ttlMs / MINUTE_MS));
  return {
    outcome: candidate ? 'candidate' : 'stored',
    reason: `kept in working memory for ${minutes} minutes after its last use${candidate ? ', and shown to people alone' : ''}`,
    masked,
    ...guardOf(mark),
    expires_at: isoTime(deps.clock() + ttlMs),
  };
}
