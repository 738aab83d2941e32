/** Admission: what is decided about a text before it may be stored. Each stage can only lower trust, add taint and sharpen the verdict. */
import type { Confirmation, MemoryRecord, Origin, SourceType, Status } from '../domain/memory.ts';
import type { Actor, Principal } from '../domain/principal.ts';
import { TIER, VERDICTS, type Verdict } from '../domain/trust.ts';
import type { TrustPolicy } from './policy.ts';

/** A record before the guard has set its trust; everything else is made by memory/record. */
export type MemoryDraft = Omit<MemoryRecord, 'trust_tier' | 'origin' | 'parents' | 'taint' | 'guard'>;

/** A person's leave for the texts of one held-back proposal, given by the guard (`consentTo`) and good for nothing else. */
export interface Consent {
  readonly tier: number;
  /** Where it is a person's decision, and not an answer that a client carried. */
  readonly confirmed_by?: Confirmation;
  /** The texts that were shown. */
  readonly texts: Readonly<Record<string, string>>;
}

export interface AdmissionContext {
  readonly principal: Principal;
  /** Where the caller says the text comes from. */
  readonly source?: { readonly type: SourceType; readonly uri?: string | undefined } | undefined;
  /** Records it was derived from, already found visible to the caller. */
  readonly parents: readonly MemoryRecord[];
  /** The version that this one replaces: trust and taint are inherited from it as from a parent. */
  readonly previous?: MemoryRecord;
  /**
   * An earlier version of the memory whose very texts come back: they are as trusted and as tainted as they were then, whoever brings them
   * back, and nobody new has said them.
   */
  readonly restores?: MemoryRecord;
  /** The texts as they were given, where some were masked: the text rules judge these, and nobody keeps them. */
  readonly unmasked?: Partial<MemoryDraft>;
  /** The same object for all items of one call: what a call may cost is counted by it. */
  readonly batch?: object;
  /** Leave for exactly these texts: they are let in at its tier, whatever the rules say. */
  readonly consent?: Consent;
}

export interface Judgement {
  readonly tier: number;
  readonly taint: readonly string[];
  readonly verdict: Verdict;
  readonly ruleIds: readonly string[];
}

/** One step of admission. Rule stages return what they found; `combine` sees to it that nothing is ever loosened. `sofar` is what earlier stages found. */
export interface AdmissionStage {
  readonly name: string;
  judge(draft: MemoryDraft, context: AdmissionContext, sofar: Judgement): Partial<Judgement> | Promise<Partial<Judgement>>;
}

export const UNJUDGED: Judgement = { tier: TIER.operator, taint: [], verdict: 'allow', ruleIds: [] };

/** The stricter of both: lower tier, union of taint and rules, the verdict further down the list. */
export function combine(sofar: Judgement, found: Partial<Judgement>): Judgement {
  const verdict = found.verdict ?? 'allow';
  return {
    tier: Math.min(sofar.tier, found.tier ?? sofar.tier),
    taint: [...new Set([...sofar.taint, ...(found.taint ?? [])])],
    verdict: VERDICTS.indexOf(verdict) > VERDICTS.indexOf(sofar.verdict) ? verdict : sofar.verdict,
    ruleIds: [...new Set([...sofar.ruleIds, ...(found.ruleIds ?? [])])],
  };
}

/** Tier a token gives by itself. */
export function actorTier(policy: TrustPolicy, actor: Actor): number {
  return TIER[policy.actors[actor]];
}

/** The tier of the credential: a person or service states, an agent infers. Who restores a version states nothing. */
export const credentialStage = (policy: TrustPolicy): AdmissionStage => ({
  name: 'credential',
  judge: (_draft, { principal, restores }) => (restores === undefined ? { tier: actorTier(policy, principal.actor) } : {}),
});

/** A named source lowers the tier; text from a tool or from outside leaves its source's name as taint. */
export const sourceStage = (policy: TrustPolicy): AdmissionStage => ({
  name: 'source',
  judge: (_draft, { source }) => {
    if (source === undefined) return {};
    const tier = TIER[policy.sources[source.type]];
    return { tier, taint: tier <= TIER.tool_output ? [source.type] : [] };
  },
});

/** What is derived is trusted no more than the least trusted part, and carries the taint of all (guard.md, derivation). */
export const derivationStage: AdmissionStage = {
  name: 'derivation',
  judge: (_draft, { parents, previous, restores }) => {
    const from = [previous, restores, ...parents].filter((r) => r !== undefined);
    return { tier: Math.min(TIER.operator, ...from.map((r) => r.trust_tier)), taint: from.flatMap((r) => r.taint ?? []) };
  },
};

/** Status a record is stored with; undefined = it is not stored. */
export function statusOf(verdict: Verdict, wanted: Status): Status | undefined {
  switch (verdict) {
    case 'allow':
    case 'mask':
    case 'flag':
      return wanted;
    case 'candidate':
      return 'candidate';
    case 'confirm':
      return 'pending';
    case 'quarantine':
      return 'quarantined';
    case 'block':
      return undefined;
  }
}

const MAX_ORIGINS = 16;

/** Where the text of this version comes from, after the origins of the version it replaces; the first one is always kept. */
export function originsOf(context: AdmissionContext, nowIso: string): readonly Origin[] {
  const { principal, source, previous, restores } = context;
  if (restores !== undefined) return restores.origin;
  const own: Origin = {
    type: source?.type ?? (principal.actor === 'agent' ? 'agent' : 'user'),
    ...(source?.uri === undefined ? {} : { uri: source.uri }),
    principal: principal.owner,
    ...(principal.clientId === undefined ? {} : { client_id: principal.clientId }),
    ts: nowIso,
  };
  const before = previous?.origin ?? [];
  const all = [...before, own];
  return all.length <= MAX_ORIGINS ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_ORIGINS)];
}
