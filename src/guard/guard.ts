/** The guard: admits what is written, scopes what is asked, screens what is read. The only file that makes or opens the sealed boxes for memory. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import { isoTime } from '../domain/clock.ts';
import type { GuardMark, MemoryRecord, StoredRecord } from '../domain/memory.ts';
import type { ListPage } from '../domain/ports.ts';
import type { Principal } from '../domain/principal.ts';
import type { RankedHit } from '../domain/ranking.ts';
import type { ScopedFields } from '../domain/scope.ts';
import { admit, openUnscreened, scoped, type Admitted, type Scoped, type Unscreened } from '../domain/sealed.ts';
import { TIER } from '../domain/trust.ts';
import { HindsightError } from '../errors.ts';
import { scopeFor, type AccessRequest } from '../gate/access-policy.ts';
import {
  actorTier,
  combine,
  credentialStage,
  derivationStage,
  originsOf,
  sourceStage,
  statusOf,
  UNJUDGED,
  type AdmissionContext,
  type AdmissionStage,
  type Consent,
  type Judgement,
  type MemoryDraft,
} from './admission.ts';
import type { Hubness } from './anomaly/hubness.ts';
import { confirmationBy } from './confirmation.ts';
import { enclosed, type Enclosed, type LineOf } from './enclose.ts';
import { wrapTexts } from './envelope.ts';
import type { TrustPolicy } from './policy.ts';
import { arrange } from './screening/arrange.ts';
import { influential } from './screening/corroboration.ts';
import { sealedTextsOf } from './sealed-texts.ts';
import { united } from './unite.ts';

/** The fields a screening stage decides by; texts as far as they will be shown. */
export type ScreenedFields = ScopedFields &
  Pick<MemoryRecord, 'memory_id' | 'trust_tier' | 'created_at' | 'content' | 'version' | 'guard'> &
  Parameters<typeof sealedTextsOf>[0];

export interface ScreenOptions {
  /** Leave out what is trusted less; every tier when absent. */
  readonly floor?: number;
  /** Without the envelope: memory_get's `raw`, for actor=user only. */
  readonly raw?: boolean;
  /** True: what is kept may go into a prompt as it is. */
  readonly prompt?: boolean;
  /** True: the caller gets ids and no text, so that no text is judged. */
  readonly unshown?: boolean;
  /** Boundary of a response that is screened in several parts (Guard.boundary). */
  readonly boundary?: string;
}

/** How hits are screened besides. */
export interface HitOptions extends ScreenOptions {
  /** Wanted hits: near-duplicates, crowds and contradictions are arranged for so many places. Absent: every hit as it is, in its place. */
  readonly topK?: number;
  /** True: only what a person has confirmed or two distinct origins say. */
  readonly influenceOnly?: boolean;
  /** What was asked; with it records that come up for everything are looked for. */
  readonly query?: string;
  readonly lineOf?: LineOf<RankedHit>;
}

/** One step of screening: false leaves the record out. */
export interface ScreenStage {
  readonly name: string;
  keep(record: ScreenedFields, options: ScreenOptions): boolean | Promise<boolean>;
}

export type ScreenedItem<T> = Enclosed<T>;

export interface Screening<T> {
  readonly items: readonly ScreenedItem<T>[];
  /** True when a stage failed and only records at or above the failing floor are here. */
  readonly degraded: boolean;
}

export interface Admission {
  /** The record as it will be stored; undefined when the guard blocks it. */
  readonly record: MemoryRecord | undefined;
  readonly sealed: Admitted<MemoryRecord> | undefined;
  readonly mark: GuardMark;
}

/** How much of a held-back record its user was shown. */
export type Seen = 'whole' | 'part';

export interface Guard {
  /** Revision of the policies that decide. */
  readonly policyRevision: string;
  /** Texts of one call that may be judged side by side: 1 where rules alone judge, more where a stage waits for somebody else. */
  readonly admitsAtOnce: number;
  /** Highest tier a write with this credential can reach. */
  tierOf(principal: Principal): number;
  /** New text: trust, taint and verdict are set here. ERR_GUARD_UNAVAILABLE when a stage fails. */
  admit(draft: MemoryDraft, context: AdmissionContext): Promise<Admission>;
  /** A stored record in another state: same texts, no more trust, the same owner and place. ERR_INTERNAL otherwise. */
  readmit(record: MemoryRecord, from: MemoryRecord): Admitted<MemoryRecord>;
  /**
   * A stored record that takes in another one, just admitted: each text of one of the two, trust, taint, parents and origins as derived
   * from both. ERR_INTERNAL for any other text, and for two that do not stand in one place and view.
   */
  unite(record: MemoryRecord, head: MemoryRecord, other: MemoryRecord): Admitted<MemoryRecord>;
  /**
   * A held-back record as a person lets it in: the same texts, active, at the tier of what a person confirmed (guard.md, derivation: the
   * only way up). ERR_ACTOR_FORBIDDEN for an agent or a service, ERR_SCOPE_MISSING without memory:confirm.
   */
  confirm(record: MemoryRecord, from: MemoryRecord, principal: Principal): Admitted<MemoryRecord>;
  /**
   * A pending record as the user behind its writer lets it in through the client's own form. The client carries that answer, so it gives
   * user_stated at most (`acknowledgedTier`). ERR_INTERNAL for a record that is not pending or is another owner's.
   */
  acknowledge(record: MemoryRecord, from: MemoryRecord, principal: Principal, seen: Seen): Admitted<MemoryRecord>;
  /** Tier that `acknowledge` sets: what was not seen whole, or comes from a tool or from outside, keeps its own. */
  acknowledgedTier(from: MemoryRecord, seen: Seen): number;
  /**
   * Leave to let the texts of a held-back proposal into the memory that it would change: by a person's decision (`confirm`) or by the answer
   * of the user whom the client asked (what they saw of it). The same failures as those two have.
   */
  consentTo(proposal: MemoryRecord, principal: Principal, by: 'decision' | Seen): Consent;
  /** Tier of what a person has confirmed. */
  readonly confirmedTier: number;
  /** A new boundary of the envelope, for a response that is screened in several parts. */
  boundary(): string;
  /** Binds a query to what its principal may see. ERR_NAMESPACE_FORBIDDEN for a named namespace outside the grant. */
  scope<Q>(query: Q, request: AccessRequest): Scoped<Q>;
  /** Records as stored, for the service's own work on them (update, forget, context); what leaves to a caller goes through a screen. */
  permitted<T extends StoredRecord | MemoryRecord>(box: Unscreened<readonly T[]>, by: Scoped<unknown>): readonly T[];
  screenHits(box: Unscreened<readonly RankedHit[]>, by: Scoped<unknown>, options?: HitOptions): Promise<Screening<RankedHit>>;
  screenRecords(
    box: Unscreened<readonly MemoryRecord[]>,
    by: Scoped<unknown>,
    options?: ScreenOptions & { readonly lineOf?: LineOf<MemoryRecord> },
  ): Promise<Screening<MemoryRecord>>;
  screenList(
    box: Unscreened<ListPage>,
    by: Scoped<unknown>,
    options?: ScreenOptions,
  ): Promise<Screening<MemoryRecord> & Pick<ListPage, 'next'>>;
}

export interface GuardOptions {
  readonly trust: TrustPolicy;
  readonly policyRevision: string;
  readonly clock: Clock;
  readonly admitsAtOnce?: number;
  /** Rule stages, after those that set the tier. */
  readonly admissionStages?: readonly AdmissionStage[];
  readonly screenStages?: readonly ScreenStage[];
  /** Takes score from what comes up for unrelated questions. */
  readonly hubness?: Hubness;
  /** Told of every failing stage: log and metrics. */
  readonly onFault?: (stage: string, error: unknown) => void;
  /** Random part of the envelope, one for each response. */
  readonly boundary?: () => string;
}

const BOUNDARY_BYTES = 6;

export const trustFloorStage: ScreenStage = {
  name: 'trust-floor',
  keep: (record, { floor }) => record.trust_tier >= (floor ?? TIER.external),
};

/** The guard over one set of policies. Stages run in order; a stage that throws closes the write and narrows the read. */
export function createGuard(options: GuardOptions): Guard {
  const { trust, policyRevision, clock, hubness } = options;
  const admission = [credentialStage(trust), sourceStage(trust), derivationStage, ...(options.admissionStages ?? [])];
  const screening = [trustFloorStage, ...(options.screenStages ?? [])];
  const onFault = options.onFault ?? (() => undefined);
  const newBoundary = options.boundary ?? (() => randomBytes(BOUNDARY_BYTES).toString('hex'));

  const judge = async (draft: MemoryDraft, context: AdmissionContext): Promise<Judgement> => {
    let judgement = UNJUDGED;
    for (const stage of admission) {
      try {
        judgement = combine(judgement, await stage.judge(draft, context, judgement));
      } catch (error) {
        onFault(stage.name, error);
        throw new HindsightError('ERR_GUARD_UNAVAILABLE', { cause: error });
      }
    }
    return judgement;
  };

  /** 'failed' when a stage threw: the caller of screen then holds the record to the failing floor. */
  const kept = async (record: ScreenedFields, screenOptions: ScreenOptions): Promise<boolean | 'failed'> => {
    for (const stage of screening) {
      try {
        const answer = stage.keep(record, screenOptions);
        if (!(typeof answer === 'boolean' ? answer : await answer)) return false;
      } catch (error) {
        onFault(stage.name, error);
        return 'failed';
      }
    }
    return true;
  };

  /** What may be shown, as it is stored. */
  const allowed = async <T>(
    values: readonly T[],
    by: Scoped<unknown>,
    screenOptions: ScreenOptions,
    recordOf: (value: T) => ScreenedFields,
  ): Promise<{ readonly values: readonly T[]; readonly degraded: boolean }> => {
    let degraded = false;
    const found: T[] = [];
    for (const value of values) {
      const record = recordOf(value);
      if (!by.scope.permits(record)) continue;
      const verdict = await kept(record, screenOptions);
      if (verdict === 'failed') degraded = true;
      if (verdict === false || (verdict === 'failed' && record.trust_tier < TIER[trust.failing_floor])) continue;
      found.push(value);
    }
    return { values: found, degraded };
  };

  const screenHits = async (hits: readonly RankedHit[], by: Scoped<unknown>, options: HitOptions): Promise<Screening<RankedHit>> => {
    const recordOf = (hit: RankedHit): ScreenedFields => hit.record;
    const { values: visible, degraded } = await allowed(hits, by, options, recordOf);
    // before copies take one place: they are what corroborates
    const values = options.influenceOnly === true ? influential(visible, by.scope.principal.owner) : visible;
    const { tenant, principal } = by.scope;
    const weighed =
      options.topK === undefined || options.query === undefined || hubness === undefined
        ? values
        : ranked(hubness(values, { tenant, query: options.query, topK: options.topK, reader: principal.owner }), values);
    // by what the texts say: the envelope comes last
    const arranged = options.topK === undefined ? weighed : arrange(weighed, { topK: options.topK, reader: principal.owner });
    const items = enclosed(arranged, {
      reader: principal.owner,
      raw: options.raw === true,
      boundary: options.boundary ?? newBoundary(),
      lineOf: options.lineOf,
      recordOf,
      wrapped: (hit, wrap) => ({
        ...hit,
        record: wrapTexts(hit.record, wrap),
        ...(hit.passage === undefined ? {} : { passage: wrap(hit.passage) }),
      }),
    });
    return { items, degraded };
  };

  const screenRecords = async (
    records: readonly MemoryRecord[],
    by: Scoped<unknown>,
    screenOptions: ScreenOptions & { readonly lineOf?: LineOf<MemoryRecord> },
  ): Promise<Screening<MemoryRecord>> => {
    const { values, degraded } = await allowed(records, by, screenOptions, (record) => record);
    const { raw = false, boundary = newBoundary(), lineOf } = screenOptions;
    const reader = by.scope.principal.owner;
    const recordOf = (record: MemoryRecord): MemoryRecord => record;
    return { items: enclosed(values, { reader, raw, boundary, lineOf, recordOf, wrapped: wrapTexts }), degraded };
  };

  const consents = new WeakSet<Consent>();

  /** The judgement of a draft for whose texts there is leave; anything else is a fault of ours. */
  const consented = (draft: MemoryDraft, judgement: Judgement, consent: Consent): Judgement => {
    if (!consents.has(consent) || JSON.stringify(sealedTextsOf(draft)) !== JSON.stringify(consent.texts))
      throw new HindsightError('ERR_INTERNAL', { cause: new Error('admit: there is no consent to these texts') });
    return { ...judgement, verdict: 'allow', tier: consent.tier };
  };

  return {
    policyRevision,
    admitsAtOnce: options.admitsAtOnce ?? 1,
    tierOf: (principal) => actorTier(trust, principal.actor),
    admit: async (draft, context) => {
      requireSameTexts(draft, context.restores);
      const found = await judge(draft, context);
      const judgement = context.consent === undefined ? found : consented(draft, found, context.consent);
      const mark: GuardMark = { verdict: judgement.verdict, rule_ids: judgement.ruleIds, policy_revision: policyRevision };
      // for these very texts alone: other ones are nobody's decision yet
      const confirmed_by = context.consent?.confirmed_by ?? context.restores?.guard.confirmed_by;
      const status = statusOf(judgement.verdict, draft.status);
      if (status === undefined) return { record: undefined, sealed: undefined, mark };
      const parents = context.parents.map((parent) => parent.memory_id);
      const kept = [...(context.previous?.parents ?? []), ...(context.restores?.parents ?? [])];
      const record: MemoryRecord = {
        ...draft,
        status,
        trust_tier: judgement.tier,
        origin: originsOf(context, isoTime(clock())),
        ...(parents.length + kept.length > 0 ? { parents: [...new Set([...kept, ...parents])] } : {}),
        ...(judgement.taint.length > 0 ? { taint: judgement.taint } : {}),
        guard: confirmed_by === undefined ? mark : { ...mark, confirmed_by },
      };
      return { record, sealed: admit(record), mark };
    },
    readmit: (record, from) => {
      const changed = changedSeal(record, from);
      if (changed !== undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error(`readmit: ${changed} was changed`) });
      return admit(record);
    },
    unite: (record, head, other) => admit(united(record, head, other)),
    confirmedTier: TIER.user_confirmed,
    confirm: (record, from, principal) => {
      requireConfirmer(principal);
      const changed = changedSeal(record, from);
      if (changed !== undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error(`confirm: ${changed} was changed`) });
      const guard = { ...record.guard, confirmed_by: confirmationBy(principal, from.owner) };
      return admit({ ...record, status: 'active', trust_tier: TIER.user_confirmed, guard, reason: 'confirmed by a person' });
    },
    consentTo: (proposal, principal, by) => {
      if (by === 'decision') requireConfirmer(principal);
      else if (proposal.status !== 'pending' || proposal.owner !== principal.owner)
        throw new HindsightError('ERR_INTERNAL', { cause: new Error('consentTo: not a pending proposal of this owner') });
      const leave =
        by === 'decision'
          ? { tier: TIER.user_confirmed, confirmed_by: confirmationBy(principal, proposal.owner) }
          : { tier: acknowledgedTier(proposal, by) };
      const consent = Object.freeze({ ...leave, texts: sealedTextsOf(proposal) });
      consents.add(consent);
      return consent;
    },
    acknowledgedTier,
    boundary: newBoundary,
    acknowledge: (record, from, principal, seen) => {
      const wrong = from.status !== 'pending' ? 'status' : from.owner !== principal.owner ? 'owner' : changedSeal(record, from);
      if (wrong !== undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error(`acknowledge: ${wrong} does not allow it`) });
      const trust_tier = acknowledgedTier(from, seen);
      return admit({ ...record, status: 'active', trust_tier, reason: 'its user agreed when the client asked' });
    },
    scope: (query, request) => scoped(query, scopeFor(request)),
    permitted: (box, by) => openUnscreened(box).filter((item) => by.scope.permits('record' in item ? item.record : item)),
    screenHits: (box, by, hitOptions = {}) => screenHits(openUnscreened(box), by, hitOptions),
    screenRecords: (box, by, screenOptions = {}) => screenRecords(openUnscreened(box), by, screenOptions),
    screenList: async (box, by, screenOptions = {}) => {
      const page = openUnscreened(box);
      return { ...(await screenRecords(page.records, by, screenOptions)), next: page.next };
    },
  };
}

/** Best first again where a score has changed. */
function ranked(hits: readonly RankedHit[], before: readonly RankedHit[]): readonly RankedHit[] {
  return hits.every((hit, i) => hit === before[i]) ? hits : [...hits].sort((a, b) => b.score - a.score);
}

/** What is restored is another state of one memory, to the letter; anything else is a fault of ours. */
function requireSameTexts(draft: MemoryDraft, restores: MemoryRecord | undefined): void {
  if (restores === undefined) return;
  const same =
    (['memory_id', 'tenant', 'namespace', 'owner'] as const).every((field) => draft[field] === restores[field]) &&
    JSON.stringify(sealedTextsOf(draft)) === JSON.stringify(sealedTextsOf(restores));
  if (!same) throw new HindsightError('ERR_INTERNAL', { cause: new Error('admit: not the version that is restored') });
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

/** Identity and text: what only admit() may set. */
const SEALED_FIELDS = [
  'memory_id',
  'tenant',
  'namespace',
  'owner',
  'visibility',
  'content',
  'title',
  'summary',
  'subject',
  'topic',
  'tags',
  'keywords',
  'metadata',
  'taint',
  'parents',
  'origin',
  'triggers',
  'counter_examples',
] as const satisfies readonly (keyof MemoryRecord)[];

function changedSeal(record: MemoryRecord, from: MemoryRecord): string | undefined {
  if (record.trust_tier > from.trust_tier) return 'trust_tier';
  const { confirmed_by: by } = record.guard;
  if (by !== undefined && JSON.stringify(by) !== JSON.stringify(from.guard.confirmed_by)) return 'guard.confirmed_by';
  return SEALED_FIELDS.find((field) => record[field] !== from[field] && JSON.stringify(record[field]) !== JSON.stringify(from[field]));
}
