/** The guard: admits what is written, scopes what is asked, screens what is read. The only file that makes or opens the sealed boxes for memory. */
import type { Clock } from '../domain/clock.ts';
import { isoTime } from '../domain/clock.ts';
import { randomFew } from '../domain/random.ts';
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
  type Judgement,
  type MemoryDraft,
} from './admission.ts';
import type { Hubness } from './anomaly/hubness.ts';
import { confirmationsOf, standingFor } from './confirmation.ts';
import { enclosed, type Enclosed, type LineOf } from './enclose.ts';
import { wrapTexts } from './envelope.ts';
import type { TrustPolicy } from './policy.ts';
import { createRelease, type Release } from './release.ts';
import { arrange } from './screening/arrange.ts';
import { influential } from './screening/corroboration.ts';
import { changedSeal } from './seal.ts';
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

export interface Guard extends Release {
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

/** The guard over one set of policies. Stages run in order; a stage that throws closes the write and narrows the read. */
export function createGuard(options: GuardOptions): Guard {
  const { trust, policyRevision, clock, hubness } = options;
  const admission = [credentialStage(trust), sourceStage(trust), derivationStage, ...(options.admissionStages ?? [])];
  const screening = options.screenStages ?? [];
  const onFault = options.onFault ?? (() => undefined);
  const newBoundary = options.boundary ?? (() => randomFew(BOUNDARY_BYTES).toString('hex'));

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
      // what others confirmed for themselves is stated, for this reader
      const { tier } = standingFor(record, by.scope.principal.owner);
      if (tier < (screenOptions.floor ?? TIER.external)) continue;
      const verdict = await kept(record, screenOptions);
      if (verdict === 'failed') degraded = true;
      if (verdict === false || (verdict === 'failed' && Math.min(tier, record.trust_tier) < TIER[trust.failing_floor])) continue;
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

  const { isGiven, ...release } = createRelease(trust, admit);

  return {
    policyRevision,
    admitsAtOnce: options.admitsAtOnce ?? 1,
    tierOf: (principal) => actorTier(trust, principal.actor),
    admit: async (draft, context) => {
      requireSameTexts(draft, context.restores);
      const found = await judge(draft, context);
      const { consent } = context;
      if (consent !== undefined && !isGiven(consent, draft))
        throw new HindsightError('ERR_INTERNAL', { cause: new Error('admit: there is no consent to these texts') });
      const judgement: Judgement = consent === undefined ? found : { ...found, verdict: 'allow', tier: consent.tier };
      const mark: GuardMark = { verdict: judgement.verdict, rule_ids: judgement.ruleIds, policy_revision: policyRevision };
      // for these very texts alone: other ones are nobody's decision yet
      const confirmations = confirmationsOf(consent ?? { ...confirmerOf(context.restores), ...confirmedBefore(context.previous, draft) });
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
        guard: { ...mark, ...confirmations },
      };
      return { record, sealed: admit(record), mark };
    },
    readmit: (record, from) => {
      const changed = changedSeal(record, from);
      if (changed !== undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error(`readmit: ${changed} was changed`) });
      return admit(record);
    },
    unite: (record, head, other) => admit(united(record, head, other)),
    ...release,
    boundary: newBoundary,
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

/** Of a version that is restored; its readers may have taken theirs back since (confirmedBefore). */
function confirmerOf(restores: MemoryRecord | undefined): Pick<GuardMark, 'confirmed_by'> {
  const { confirmed_by } = restores?.guard ?? {};
  return confirmed_by === undefined ? {} : { confirmed_by };
}

/** Who confirmed these very texts in the version before: a change of anything else leaves that, and so whose words they are. */
function confirmedBefore(previous: MemoryRecord | undefined, draft: MemoryDraft): ReturnType<typeof confirmationsOf> {
  return previous === undefined || !haveSameTexts(previous, draft) ? {} : confirmationsOf(previous.guard);
}

const haveSameTexts = (a: MemoryDraft, b: MemoryDraft): boolean => JSON.stringify(sealedTextsOf(a)) === JSON.stringify(sealedTextsOf(b));

/** What is restored is another state of one memory, to the letter; anything else is a fault of ours. */
function requireSameTexts(draft: MemoryDraft, restores: MemoryRecord | undefined): void {
  if (restores === undefined) return;
  const same =
    (['memory_id', 'tenant', 'namespace', 'owner'] as const).every((field) => draft[field] === restores[field]) &&
    haveSameTexts(draft, restores);
  if (!same) throw new HindsightError('ERR_INTERNAL', { cause: new Error('admit: not the version that is restored') });
}
