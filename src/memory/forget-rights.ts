/** Which memories of a plan its caller may take: many that are more trusted than an agent's word go with a yes of its user alone; memory/forget asks. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { AnswerLeg } from '../domain/trust.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';

/** Why a memory of a plan is left to its user. */
export const NEEDS_PERSON =
  'it is more trusted than this caller: many at once go by a yes of the user whom the client asks, or by the user’s own call over REST';

/**
 * A person takes what is theirs; whoever else holds a token takes by filter or query what is no more trusted than its own words, and the
 * rest where its user was asked and the answer is believed. One by one an agent may take either: it is asked for by the user in the
 * conversation, told in the audit log and brought back by id (product.md, memory_forget).
 */
export function mayTakeMany(
  { guard }: Pick<MemoryDeps, 'guard'>,
  { principal }: Pick<CallContext, 'principal'>,
  answered?: AnswerLeg,
): (record: Pick<MemoryRecord, 'trust_tier'>) => boolean {
  const agreed = principal.actor === 'user' || (answered !== undefined && guard.believes(principal, answered));
  const tier = guard.tierOf(principal);
  return ({ trust_tier }) => agreed || trust_tier <= tier;
}
