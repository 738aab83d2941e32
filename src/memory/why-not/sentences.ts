/** Why-not in words: one sentence for each outcome; fixed texts with numbers, never a text of a memory. */
import type { WhyNot } from '../../domain/wire/read.ts';

/** What an outcome says. */
export function sentenceOf({
  outcome,
  status,
  conditions,
  rank,
  engine_rank: engineRank,
  score,
  needed,
}: Omit<WhyNot, 'memory_id' | 'sentence'>): string {
  const short = needed === undefined || score === undefined ? '' : `: ${score.toFixed(3)} of ${needed.toFixed(3)}`;
  switch (outcome) {
    case 'unknown':
      return 'There is no such memory, or none that you may see';
    case 'namespace':
      return 'It stands in a namespace that this search did not look in; name it in namespaces';
    case 'status':
      return `Its status is ${status ?? 'another one'}, and this search did not ask for it`;
    case 'expired':
      return 'It has expired';
    case 'trust_floor':
      return 'It is trusted less than trust_floor asks for';
    case 'filter':
      return `It does not fit the filter: ${(conditions ?? []).join(', ')}`;
    case 'screened':
      return 'The guard keeps it from prompts by the rules of today';
    case 'no_match':
      return 'Nothing of the question matched: it shares no word with it, and its meaning is not among the nearest';
    case 'candidates':
      return `It is number ${engineRank ?? 0} of the one query, and only the first ones are ranked`;
    case 'duplicate':
      return 'It says nearly the same as a hit that stands for both';
    case 'influence_only':
      return 'No person has confirmed it, and no two origins say it; influence_only asks for that';
    case 'nothing_relevant':
      return `Nothing reached the floor of the profile, so that the answer is empty${short}`;
    case 'min_score':
      return `Its score is below min_score${short}`;
    case 'outranked':
      return `It is number ${rank ?? 0} of the ranking, behind top_k${short}`;
    case 'token_budget':
      return `It is number ${rank ?? 0} of the ranking, and token_budget had no room for it`;
    case 'returned':
      return `It came back, as number ${rank ?? 0}`;
  }
}
