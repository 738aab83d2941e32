/** What a record becomes that is to be stored, by all the memories of nearly its words; memory/conflicts/plan asks. Pure. */
import type { StoredRecord } from '../../domain/memory.ts';
import type { Meeting } from './against.ts';
import type { Step } from './entry.ts';
import { meets } from './meet.ts';

/** A stored memory, and what the record does to it. */
interface Met {
  readonly head: StoredRecord;
  readonly meeting: Meeting;
}

/** Contradictions that words alone may tell of: a text that contradicts more is one of a series (lots, readings, log lines). */
const MOST_MET = 3;

/** Whether the stored memory stands for the record. */
export function isRepeat({ does }: Meeting): boolean {
  return does === 'repeat' || does === 'merge';
}

/** Whether it is stored as one that something else contradicts. */
export function isContested(step: Step): boolean {
  return step.do === 'store' && step.record.status === 'conflict';
}

/** The step with all of them met; what already takes another one's place is stored whatever else says the same. */
export function metByWords(step: Extract<Step, { do: 'store' }>, met: readonly Met[]): Step {
  const all = (some: readonly Met[]): Step => some.reduce((sofar: Step, { head, meeting }) => meets(sofar, head, meeting), step);
  const replaces = new Set(step.replaces.map(({ memory_id: id }) => id));
  const isFirst = step.outcome === undefined;
  const others = met.filter(
    ({ head, meeting }) => !replaces.has(head.record.memory_id) && (isFirst || (!isRepeat(meeting) && meeting.does !== 'past')),
  );
  // what says the same goes before what says otherwise
  const same = others.find(({ meeting }) => isRepeat(meeting));
  if (same !== undefined) return all([same]);
  const past = others.filter(({ meeting }) => meeting.does === 'past').slice(0, 1);
  if (past.length > 0 && others.length <= MOST_MET) return all(past);
  const again = others.filter(({ meeting }) => meeting.otherwise !== undefined);
  const against = others.filter(({ meeting }) => meeting.otherwise === undefined);
  const next = all([...again, ...(against.length > MOST_MET ? [] : against)]);
  const [doubted] = again;
  const otherwise = doubted?.meeting.otherwise;
  if (!isFirst || !isContested(next) || doubted === undefined || otherwise === undefined || !isRepeat(otherwise)) return next;
  return meets(step, doubted.head, otherwise);
}
