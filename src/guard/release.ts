/** The ways in which a yes lets a record in: a person's decision, the answer that a client brought, and a reader's confirmation for themself; part of the guard. */
import type { GuardMark, MemoryRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import type { Admitted } from '../domain/sealed.ts';
import { TIER, type AnswerLeg } from '../domain/trust.ts';
import { HindsightError } from '../errors.ts';
import type { Consent, MemoryDraft } from './admission.ts';
import { confirmationBy, confirmedAlsoFor, withoutConfirmer } from './confirmation.ts';
import type { TrustPolicy } from './policy.ts';
import { changedSeal } from './seal.ts';
import { sealedTextsOf } from './sealed-texts.ts';

/** How much of a held-back record its user was shown. */
export type Seen = 'whole' | 'part';

/** The answer of the user whom a client asked: what they saw, and the way by which it came back. */
export interface Answer {
  readonly seen: Seen;
  readonly leg: AnswerLeg;
}

export interface Release {
  /**
   * Whether an answer that came back this way speaks for the person behind the token. A person's own token does; who holds an agent's
   * token can make up what it sends, so the policy says which ways are believed of it. A no counts no more than a yes: what is not believed
   * changes nothing, and the record waits on (memory/held-back asks this before either).
   */
  believes(principal: Principal, leg: AnswerLeg): boolean;
  /**
   * A held-back or active record as a person lets it in: the same texts, active, at the tier of what a person confirmed (guard.md,
   * derivation: the only way up). ERR_ACTOR_FORBIDDEN for an agent or a service, ERR_SCOPE_MISSING without memory:confirm.
   */
  confirm(record: MemoryRecord, from: MemoryRecord, principal: Principal): Admitted<MemoryRecord>;
  /**
   * Somebody else's active record as a reader confirms it for themself, or takes that back: nothing changes for anybody else. The same
   * failures.
   */
  confirmForSelf(record: MemoryRecord, principal: Principal, confirms: boolean): Admitted<MemoryRecord>;
  /**
   * A pending record as the user behind its writer lets it in through the client's own form. The client carries that answer, so it gives
   * user_stated at most (`acknowledgedTier`). ERR_INTERNAL for a record that is not pending or is another owner's, ERR_ACTOR_FORBIDDEN for
   * a yes that is not believed.
   */
  acknowledge(record: MemoryRecord, from: MemoryRecord, principal: Principal, answer: Answer): Admitted<MemoryRecord>;
  /** Tier that `acknowledge` sets: what was not seen whole, or comes from a tool or from outside, keeps its own. */
  acknowledgedTier(from: MemoryRecord, seen: Seen): number;
  /**
   * Leave to let the texts of a held-back proposal into the memory that it would change: by a person's decision (`confirm`) or by the answer
   * of the user whom the client asked. The same failures as those two have.
   */
  consentTo(proposal: MemoryRecord, principal: Principal, by: 'decision' | Answer): Consent;
  /** Tier of what a person has confirmed. */
  readonly confirmedTier: number;
}

/** `seal` is the guard's own; `isGiven`: whether this leave is for the texts of the draft, admission asks. */
export function createRelease(
  trust: Pick<TrustPolicy, 'agent_answers'>,
  seal: (record: MemoryRecord) => Admitted<MemoryRecord>,
): Release & {
  readonly isGiven: (consent: Consent, draft: MemoryDraft) => boolean;
} {
  const consents = new WeakSet<Consent>();
  const believes: Release['believes'] = ({ actor }, leg) => actor === 'user' || trust.agent_answers[leg];

  /** Throws unless this answer lets this pending record of theirs in. */
  const requireAnswer = (from: MemoryRecord, principal: Principal, { leg }: Answer, what: string): void => {
    if (from.status !== 'pending' || from.owner !== principal.owner)
      throw new HindsightError('ERR_INTERNAL', { cause: new Error(`${what}: not a pending record of this owner`) });
    if (!believes(principal, leg)) throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  };
  const requireSame = (record: MemoryRecord, from: MemoryRecord, what: string): void => {
    const changed = changedSeal(record, from);
    if (changed !== undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error(`${what}: ${changed} was changed`) });
  };

  return {
    believes,
    confirmedTier: TIER.user_confirmed,
    confirm: (record, from, principal) => {
      requireConfirmer(principal);
      requireSame(record, from, 'confirm');
      const guard = { ...record.guard, confirmed_by: confirmationBy(principal, from.owner) };
      return seal({ ...record, status: 'active', trust_tier: TIER.user_confirmed, guard, reason: 'confirmed by a person' });
    },
    confirmForSelf: (record, principal, confirms) => {
      requireConfirmer(principal);
      const guard: GuardMark = confirms ? confirmedAlsoFor(record.guard, principal.owner) : withoutConfirmer(record.guard, principal.owner);
      return seal({ ...record, guard });
    },
    acknowledge: (record, from, principal, answer) => {
      requireAnswer(from, principal, answer, 'acknowledge');
      requireSame(record, from, 'acknowledge');
      const trust_tier = acknowledgedTier(from, answer.seen);
      return seal({ ...record, status: 'active', trust_tier, reason: 'its user agreed when the client asked' });
    },
    acknowledgedTier,
    consentTo: (proposal, principal, by) => {
      if (by === 'decision') requireConfirmer(principal);
      else requireAnswer(proposal, principal, by, 'consentTo');
      const leave =
        by === 'decision'
          ? { tier: TIER.user_confirmed, confirmed_by: confirmationBy(principal, proposal.owner) }
          : { tier: acknowledgedTier(proposal, by.seen) };
      const consent = Object.freeze({ ...leave, texts: sealedTextsOf(proposal) });
      consents.add(consent);
      return consent;
    },
    isGiven: (consent, draft) => consents.has(consent) && JSON.stringify(sealedTextsOf(draft)) === JSON.stringify(consent.texts),
  };
}

function requireConfirmer(principal: Principal): void {
  if (principal.actor !== 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  if (!principal.scopes.has('memory:confirm')) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:confirm' } });
}

/** Never above user_stated, and raised only from what an agent inferred by itself. */
function acknowledgedTier(from: MemoryRecord, seen: Seen): number {
  const raises = seen === 'whole' && from.trust_tier >= TIER.agent_inferred && (from.taint ?? []).length === 0;
  return raises ? TIER.user_stated : Math.min(from.trust_tier, TIER.user_stated);
}
