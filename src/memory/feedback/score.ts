/** What votes come to: counters, and one score that no single principal and no crowd of less trusted ones can carry far. Pure. */
import type { FeedbackVerdict, KeptFeedback, Vote } from '../../domain/feedback.ts';
import type { Feedback } from '../../domain/memory.ts';

/** What a verdict says of a memory, -1..1. */
const STANCE: Readonly<Record<FeedbackVerdict, number>> = { useful: 1, cited: 0.5, outdated: -0.7, wrong: -1 };
/** Votes that nobody gave and that say nothing: one principal moves the score by a third, ten by five sixths. */
const PRIOR = 2;
/** A vote of somebody less trusted than the memory. */
const BELOW_WEIGHT = 0.25;
/** All votes of such together, either way: agents cannot bury what a person stated, however many they are (guard.md, G10). */
const BELOW_MOST = 0.5;
/** Principals remembered of one memory; a further one is not counted. */
const MAX_VOTERS = 256;

/** One more vote. */
export interface Ballot {
  readonly by: string;
  readonly below: boolean;
  readonly verdict: FeedbackVerdict;
  readonly nowIso: string;
  readonly note?: string | undefined;
}

const NONE: Feedback = { useful: 0, wrong: 0, outdated: 0, cited: 0, score: 0, last_at: '' };

/** With the vote counted; undefined when this principal has said so today, or there is no room for another one. */
export function voted(kept: KeptFeedback | undefined, { by, below, verdict, nowIso, note }: Ballot): KeptFeedback | undefined {
  const { feedback, votes } = kept ?? { feedback: NONE, votes: [] };
  const day = nowIso.slice(0, 10);
  const before = votes.find((vote) => vote.by === by);
  if (before?.days[verdict] === day || (before === undefined && votes.length >= MAX_VOTERS)) return undefined;
  // cited after useful says no less
  const last = verdict === 'cited' && before?.last === 'useful' ? 'useful' : verdict;
  const said = note ?? before?.note;
  const vote: Vote = { by, below, last, days: { ...before?.days, [verdict]: day }, ...(said === undefined ? {} : { note: said }) };
  const all = [...votes.filter((other) => other.by !== by), vote];
  return {
    feedback: { ...feedback, [verdict]: feedback[verdict] + 1, score: scoreOf(all), last_at: nowIso },
    votes: all,
  };
}

/** -1..1: every principal once, by what it said last. */
export function scoreOf(votes: readonly Vote[]): number {
  const sum = (below: boolean): number => votes.filter((vote) => vote.below === below).reduce((total, { last }) => total + STANCE[last], 0);
  const under = Math.max(-BELOW_MOST, Math.min(BELOW_MOST, BELOW_WEIGHT * sum(true)));
  const counted =
    votes.filter(({ below }) => !below).length + Math.min(BELOW_MOST, BELOW_WEIGHT * votes.filter(({ below }) => below).length);
  return (sum(false) + under) / (PRIOR + counted);
}

/** Of the verdicts those that say that it does not hold. */
export function saysItFails(verdict: FeedbackVerdict): boolean {
  return STANCE[verdict] < 0;
}
