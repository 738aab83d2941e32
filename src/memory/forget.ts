/** memory_forget: by id at once; by filter or query after a dry run whose signed plan the second call brings. */
import { canonicalJson } from '../domain/canonical-json.ts';
import { isoTime } from '../domain/clock.ts';
import { STATUSES, type MemoryRecord, type Status } from '../domain/memory.ts';
import { mapUnscreened } from '../domain/sealed.ts';
import type { AnswerLeg } from '../domain/trust.ts';
import type { Filter } from '../domain/wire/common.ts';
import type { ForgetAnswer, ForgetInput } from '../domain/wire/forget.ts';
import { HindsightError } from '../errors.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import { defined } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import { forgetRecords, isForgettable } from './forget-records.ts';
import { mayTakeMany, NEEDS_PERSON } from './forget-rights.ts';
import type { CallContext } from './gateway.ts';
import { loadForChange } from './load.ts';
import { maskedQuery } from './masking.ts';
import { openPlan, PLAN_LIFE_MS, signPlan, type ForgetPlan } from './plan.ts';
import { CHANGED_SINCE, stillPlanned } from './planned.ts';
import { invalid } from './record.ts';
import { rank } from './rank.ts';
import { makeVisible } from './visible.ts';
import type { TurnLinks } from './turn-links.ts';

type Answer = Omit<ForgetAnswer, 'trace_id'>;

/** Ids a plan names one by one; a larger one binds the filter and the time of the dry run. */
const MAX_PLAN_IDS = 400;
const PAGE = 100;
const MAX_NAMED_IDS = 100;
const SAMPLE = 5;
const SAMPLE_CHARS = 200;
/** Half of the calibrated range: above the floor of a search (0.35), because what is taken away by mistake is worse than what is left. */
const DEFAULT_MIN_SCORE = 0.5;
const QUERY_HITS = 20;
/** What a filter finds unless it says otherwise: all that is not forgotten already and not in a reviewer's hands. */
const FORGETTABLE: readonly Status[] = ['active', 'conflict', 'candidate', 'superseded', 'archived'];
const IN_REVIEW: readonly Status[] = ['pending', 'quarantined', 'rejected'];

/**
 * Failures: ERR_MEMORY_NOT_FOUND, ERR_NAMESPACE_FORBIDDEN, ERR_PRECONDITION_FAILED (by id with another version), ERR_FORGET_TARGET when nothing
 * narrows the target, ERR_PLAN_INVALID without a dry run's plan or with one of another call. `answered`: how the user's yes to a plan came
 * back, where the client asked.
 */
export async function forget(
  deps: MemoryDeps,
  turns: TurnLinks,
  given: ForgetInput,
  call: CallContext,
  answered?: AnswerLeg,
): Promise<Answer> {
  const input = maskedQuery(deps, call.principal.tenant, given);
  if (input.memory_id !== undefined) return forgetOne(deps, turns, input.memory_id, input, call);
  if (input.plan !== undefined && input.dry_run !== true) return carryOut(deps, turns, input.plan, input, call, answered);
  if (input.query === undefined && !narrows(input.filter)) throw new HindsightError('ERR_FORGET_TARGET');
  if (input.dry_run !== true) throw new HindsightError('ERR_PLAN_INVALID');
  return input.query === undefined ? dryRunByFilter(deps, input, call) : dryRunByQuery(deps, input, call);
}

/** What is in a reviewer's hands an agent or a service neither reads in a sample nor takes away before its person has seen it (guard.md, read). */
function reachableBy({ principal }: CallContext): readonly Status[] {
  return principal.actor === 'user' ? STATUSES : STATUSES.filter((status) => !IN_REVIEW.includes(status));
}

async function forgetOne(deps: MemoryDeps, turns: TurnLinks, memoryId: string, input: ForgetInput, call: CallContext): Promise<Answer> {
  const { record } = await loadForChange(deps, call, memoryId, 'forget', reachableBy(call));
  if (input.version !== undefined && input.version !== record.version)
    throw new HindsightError('ERR_PRECONDITION_FAILED', { params: { version: record.version } });
  if (input.dry_run === true)
    return isForgettable(record)
      ? { ...NOTHING, count: 1, sample: await sampleOf(deps, call, [memoryId]) }
      : { ...NOTHING, count: 0, sample: [] };
  const forgotten = await forgetRecords(deps, turns, call, [memoryId], { version: input.version });
  // One that is forgotten already, or held, is no error; one that others keep changing is.
  if (forgotten.length === 0 && isForgettable(record)) throw new HindsightError('ERR_VERSION_CONFLICT');
  return finished(deps, call, forgotten);
}

async function dryRunByQuery(deps: MemoryDeps, input: ForgetInput, call: CallContext): Promise<Answer> {
  const { screening } = await rank(
    deps,
    { query: input.query ?? '', top_k: QUERY_HITS, ...defined({ namespaces: input.namespaces, filter: input.filter }) },
    call,
    'forget',
  );
  const floor = input.min_score ?? DEFAULT_MIN_SCORE;
  const hits = screening.items.filter(({ value }) => value.score >= floor).slice(0, QUERY_HITS);
  const ids = hits.map(({ value }) => value.record.memory_id);
  const versions = hits.map(({ value }) => value.record.version);
  const { target, before_ms, expires_ms } = planBase(deps, input);
  const mayTake = mayTakeMany(deps, call);
  const left = hits.filter(({ value }) => !mayTake(value.record)).length;
  return planned(deps, call, { target, before_ms, expires_ms, ids, versions, count: ids.length }, { left });
}

async function dryRunByFilter(deps: MemoryDeps, input: ForgetInput, call: CallContext): Promise<Answer> {
  const base = planBase(deps, input);
  await makeVisible(deps, call.principal.tenant);
  const ids: string[] = [];
  const versions: number[] = [];
  let count = 0;
  let left = 0;
  const mayTake = mayTakeMany(deps, call);
  for await (const page of pages(deps, call, base)) {
    count += page.length;
    left += page.filter((record) => !mayTake(record)).length;
    if (ids.length > MAX_PLAN_IDS) continue;
    ids.push(...page.map((record) => record.memory_id));
    versions.push(...page.map((record) => record.version));
  }
  if (count > MAX_PLAN_IDS) return planned(deps, call, { ...base, count }, { found: ids, left });
  const { target, before_ms, expires_ms } = base;
  return planned(deps, call, { target, before_ms, expires_ms, ids, versions, count }, { left });
}

/** What its user is asked about before a plan is carried out. ERR_PLAN_INVALID. */
export function plannedCount(
  { keys, clock }: Pick<MemoryDeps, 'keys' | 'clock'>,
  token: string,
  { principal }: Pick<CallContext, 'principal'>,
): number {
  return openPlan(token, keys.plan, principal, clock).count;
}

async function carryOut(
  deps: MemoryDeps,
  turns: TurnLinks,
  token: string,
  input: ForgetInput,
  call: CallContext,
  answered: AnswerLeg | undefined,
): Promise<Answer> {
  const plan = openPlan(token, deps.keys.plan, call.principal, deps.clock);
  const namesTarget = input.filter !== undefined || input.query !== undefined || input.namespaces !== undefined;
  if (namesTarget && targetOf(input) !== plan.target) throw new HindsightError('ERR_PLAN_INVALID');
  const ids = plan.ids ?? (await idsOf(deps, call, plan));
  if (ids.length > plan.count) throw new HindsightError('ERR_PLAN_INVALID');
  const forgotten: string[] = [];
  const skipped = new Map<string, string>();
  const mayTake = mayTakeMany(deps, call, answered);
  const reachable = reachableBy(call);
  const unchanged = stillPlanned(deps, call, plan, (id) => skipped.set(id, CHANGED_SINCE));
  const still: typeof unchanged = (heads) => {
    // what was held back since the dry run is its person's to decide on
    const left = heads.filter(({ record }) => reachable.includes(record.status));
    for (const { record } of heads) if (!reachable.includes(record.status)) skipped.set(record.memory_id, CHANGED_SINCE);
    for (const { record } of left) if (!mayTake(record)) skipped.set(record.memory_id, NEEDS_PERSON);
    return unchanged(left.filter(({ record }) => mayTake(record)));
  };
  for (let from = 0; from < ids.length; from += PAGE) {
    call.signal.throwIfAborted();
    forgotten.push(...(await forgetRecords(deps, turns, call, ids.slice(from, from + PAGE), { still })));
    // page by page: a later one may fail
    await deps.dirty.mark(call.principal.tenant);
  }
  const answer = await finished(deps, call, forgotten);
  if (skipped.size === 0) return answer;
  return { ...answer, skipped: [...skipped].slice(0, MAX_NAMED_IDS).map(([memory_id, reason]) => ({ memory_id, reason })) };
}

async function idsOf(deps: MemoryDeps, call: CallContext, plan: ForgetPlan): Promise<readonly string[]> {
  await makeVisible(deps, call.principal.tenant);
  const ids: string[] = [];
  for await (const page of pages(deps, call, plan)) ids.push(...page.map((record) => record.memory_id));
  return ids;
}

/** What fits the plan's filter, was there at the dry run, and may be forgotten. */
async function* pages(
  deps: MemoryDeps,
  call: CallContext,
  plan: Pick<ForgetPlan, 'filter' | 'namespaces' | 'before_ms'>,
): AsyncGenerator<readonly MemoryRecord[]> {
  const { status, ...filter } = plan.filter ?? {};
  const request: AccessRequest = {
    principal: call.principal,
    action: 'forget',
    reach: plan.namespaces ?? 'default',
    statuses: status === undefined ? FORGETTABLE : FORGETTABLE.filter((s) => status.includes(s)),
    nowMs: deps.clock(),
  };
  const by = deps.guard.scope({ filter, pageSize: PAGE }, request);
  for await (const page of deps.index.scan(by)) {
    const records = deps.guard.permitted(page, by);
    yield records.filter((record) => isForgettable(record) && Date.parse(record.created_at) < plan.before_ms);
  }
}

function planBase(deps: MemoryDeps, input: ForgetInput): Omit<ForgetPlan, 'count' | 'ids'> {
  const nowMs = deps.clock();
  return {
    target: targetOf(input),
    // What was stored in this very millisecond was there.
    before_ms: nowMs + 1,
    expires_ms: nowMs + PLAN_LIFE_MS,
    ...defined({ filter: input.filter, namespaces: input.namespaces }),
  };
}

/**
 * The dry run's answer. `found`: ids to take the sample from when the plan itself names none; `left`: how many of them the caller may not take
 * without a person's yes.
 */
async function planned(
  deps: MemoryDeps,
  call: CallContext,
  plan: ForgetPlan,
  { found = plan.ids ?? [], left }: { readonly found?: readonly string[]; readonly left: number },
): Promise<Answer> {
  if (plan.count === 0) return { ...NOTHING, count: 0, sample: [] };
  const token = signPlan(plan, deps.keys.plan, call.principal);
  if (token === undefined) throw invalid('/filter', 'is too long for a plan; name fewer namespaces or conditions');
  const sample = await sampleOf(deps, call, found.slice(0, SAMPLE));
  const dry = { ...NOTHING, count: plan.count, sample, plan: token, plan_expires_at: isoTime(plan.expires_ms) };
  return left === 0 ? dry : { ...dry, needs_person: left };
}

const NOTHING: Answer = { forgotten: 0, memory_ids: [] };

async function finished(deps: MemoryDeps, call: CallContext, forgotten: readonly string[]): Promise<Answer> {
  if (forgotten.length > 0) {
    await deps.dirty.mark(call.principal.tenant);
    deps.nudge(call.principal.tenant);
  }
  return { forgotten: forgotten.length, memory_ids: forgotten.slice(0, MAX_NAMED_IDS) };
}

/** Some of the records as the caller may see them; shortened before the screen, so that an envelope is never cut open. */
async function sampleOf(deps: MemoryDeps, call: CallContext, memoryIds: readonly string[]): Promise<NonNullable<Answer['sample']>> {
  const by = deps.guard.scope(
    { memoryIds },
    { principal: call.principal, action: 'forget', reach: 'granted', statuses: reachableBy(call), nowMs: deps.clock() },
  );
  const shortened = mapUnscreened(await deps.index.get(by), (stored) =>
    stored.map(({ record }) => ({ ...record, content: beginning(record.content) })),
  );
  return (await deps.guard.screenRecords(shortened, by)).items.map(({ value, referenceOnly }) => ({
    memory_id: value.memory_id,
    content: value.content,
    created_at: value.created_at,
    reference_only: referenceOnly,
  }));
}

function beginning(content: string): string {
  return content.length <= SAMPLE_CHARS ? content : `${content.slice(0, SAMPLE_CHARS).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function targetOf(input: ForgetInput): string {
  return canonicalJson([input.filter ?? null, input.query ?? null, input.min_score ?? null, input.namespaces ?? null]);
}

/** At least one condition that can exclude something. */
function narrows(filter: Filter | undefined): boolean {
  return Object.values(filter ?? {}).some(
    (condition) => condition !== undefined && (typeof condition !== 'object' || Object.keys(condition).length > 0),
  );
}
