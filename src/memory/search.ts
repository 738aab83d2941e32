/** memory_search: scope, query vectors, the one hybrid query, fusion, and the guard's screen on what comes back. */
import { SEARCHABLE_STATUSES, type Status } from '../domain/memory.ts';
import type { AsOf, SearchSpec, RankingProfile, RankedHit } from '../domain/ranking.ts';
import { mapUnscreened, type Scoped, type Unscreened } from '../domain/sealed.ts';
import { TIER, TIER_NAMES } from '../domain/trust.ts';
import type { Filter } from '../domain/wire/common.ts';
import type { SearchAnswer, SearchInput } from '../domain/wire/read.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import type { HitOptions, ScreenedItem, Screening } from '../guard/guard.ts';
import { coarse } from '../ranking/coarse.ts';
import { fuse, relevance } from '../ranking/fuse.ts';
import { withWeights } from '../ranking/profile.ts';
import { wordings } from '../ranking/wordings.ts';
import { askedIn } from './asked.ts';
import { nearOf, pastOf, roomIn } from './beside-hits.ts';
import { budgetOf, type Budget } from './budget.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { maskedQuery } from './masking.ts';
import { withPastVectors } from './past-vectors.ts';
import { queryVectors, spacesFor } from './query-vectors.ts';
import { noteRecall } from './recall/note.ts';
import { invalid } from './record.ts';
import { reranked } from './rerank/rerank.ts';
import { searchStatuses } from './statuses.ts';
import { givenView, hitView, type HitExtras } from './view.ts';
import { whyNot } from './why-not/why-not.ts';
import { noteReturned } from './working/notes.ts';

export const DEFAULT_PROFILE = 'assistant';

/** Failures: ERR_NAMESPACE_FORBIDDEN, ERR_REQUEST_INVALID for an unknown profile or weight, ERR_STORE_UNAVAILABLE. */
export async function search(deps: MemoryDeps, input: SearchInput, call: CallContext): Promise<Omit<SearchAnswer, 'trace_id'>> {
  const startedMs = deps.clock();
  const boundary = deps.guard.boundary();
  const budget = budgetIn(deps, input);
  const screen = budget === undefined ? { boundary } : { boundary, lineOf: budget.lineOf };
  const found = await rank(deps, input, call, 'read', { screen });
  const { hits, nothingRelevant } = relevance(
    found.screening.items.map((item) => item.value),
    { query: found.query, also: found.also, floor: found.profile.floor, minScore: input.min_score, keep: input.explain === true },
  );
  const kept = new Set(hits);
  const relevant = found.screening.items.filter((item) => kept.has(item.value));
  const again = nothingRelevant
    ? { items: relevant, degraded: [] }
    : await reranked(deps, relevant, { query: found.query, profile: found.profile, signal: call.signal });
  const best = again.items.slice(0, found.topK);
  const given = budget?.within(best);
  const shown = given?.map(({ item }) => item) ?? best;
  const [past, near] = await Promise.all([
    pastOf(deps, input, found, shown, boundary),
    nearOf(deps, input, found, shown, { boundary, room: roomIn(input, given) }),
  ]);
  // a look into the past makes nothing more popular now
  if (call.principal.actor !== 'service' && input.as_of === undefined)
    deps.stats.record(
      call.principal.tenant,
      shown.map((item) => item.value.record.memory_id),
    );
  noteRecall(
    deps,
    call,
    { operation: 'memory_search', query: wordings(found.spec).join('\n'), namespaces: input.namespaces },
    shown.map((item) => item.value),
  );
  // never throws, and no search waits for it
  const texts = given?.map(({ content }) => content) ?? shown.map((item) => item.value.record.content);
  void noteReturned(deps, call, undefined, [...texts, ...[...near.turns.values()].flat().map(({ content }) => content)]);
  const among = input.explain === true ? candidatesOf(again.items, found.screening.items) : undefined;
  const extrasOf = ({ value: { record } }: ScreenedItem<RankedHit>): HitExtras => ({
    among,
    held: past.held?.get(record.memory_id),
    was: past.was?.get(record.memory_id),
    neighbours: near.turns.get(record.memory_id),
  });
  const ended = { found, ranked: again.items, shown, nothingRelevant };
  const answers = input.why_not === undefined ? undefined : await whyNot(deps, input, ended, call);
  return {
    hits: given?.map((one) => givenView(one, extrasOf(one.item))) ?? shown.map((item) => hitView(item, extrasOf(item))),
    ...(given === undefined ? {} : { left_out: best.length - given.length }),
    nothing_relevant: nothingRelevant,
    ...(answers === undefined ? {} : { why_not: answers }),
    degraded: [...found.degraded, ...again.degraded, ...past.degraded, ...near.degraded],
    took_ms: deps.clock() - startedMs,
  };
}

/** What was ranked, as it was judged last; what min_score leaves out was a candidate as well. */
function candidatesOf(last: readonly ScreenedItem<RankedHit>[], all: readonly ScreenedItem<RankedHit>[]): readonly RankedHit[] {
  const judged = new Set(last.map(({ value }) => value.record.memory_id));
  return [...last, ...all.filter(({ value }) => !judged.has(value.record.memory_id))].map(({ value }) => value);
}

/** What a budget makes of the hits; the question is the masked one, as in the rest of the search. */
function budgetIn(deps: MemoryDeps, input: SearchInput): Budget | undefined {
  if (input.token_budget === undefined) return undefined;
  return budgetOf(input.token_budget, input.top_k ?? deps.defaultTopK, askedIn(input).query);
}

export interface Found {
  /** Best first, not cut. */
  readonly screening: Screening<RankedHit>;
  /** All candidates in their order, as they are before the screen. */
  readonly brought: Unscreened<readonly RankedHit[]>;
  /** What was asked, masked. */
  readonly query: string;
  /** Its other wording, masked. */
  readonly also: string | undefined;
  readonly spec: SearchSpec;
  readonly profile: RankingProfile;
  readonly topK: number;
  /** Lowest tier that is shown. */
  readonly floor: number;
  /** What the caller may see here. */
  readonly request: AccessRequest;
  readonly degraded: string[];
}

/** How memory_context ranks: wider than a search, and for lines of a prompt. */
export interface RankOptions {
  /** Candidates of the one query, in place of the profile's. */
  readonly candidates?: number;
  /** True: never a second, longer query. */
  readonly once?: boolean;
  readonly screen?: Pick<HitOptions, 'lineOf' | 'boundary'>;
}

/** Everything of a search up to the screened, ranked hits; memory_forget by query reads the same. */
export async function rank(
  deps: MemoryDeps,
  given: SearchInput,
  call: CallContext,
  action: 'read' | 'forget' = 'read',
  options: RankOptions = {},
): Promise<Found> {
  const { principal } = call;
  const input = maskedQuery(deps, principal.tenant, given);
  const { query, also } = askedIn(input);
  const texts = also === undefined ? [query] : [query, also];
  const profile = profileOf(deps, input);
  const nowMs = deps.clock();
  const statuses = searchStatuses(input.filter?.status, input.include_superseded === true);
  const asOf = asOfIn(input, statuses, nowMs);
  const request: AccessRequest = {
    principal,
    action,
    reach: input.namespaces ?? 'default',
    // of then those that are asked for, of now all that a search may show
    statuses: asOf === undefined ? statuses : SEARCHABLE_STATUSES,
    nowMs,
  };
  const probe = deps.guard.scope({ key: holdingsKey(request) }, request);
  const [primary, ...others] = spacesFor(deps, texts);
  const lastSentence = profile.boosts['last_sentence'];
  const embed = (spaceNames: readonly string[]) => queryVectors(deps, { query, also, spaceNames, lastSentence }, call.signal);
  const [holdings, first] = await Promise.all([visibleHoldings(deps, probe), embed(primary === undefined ? [] : [primary])]);
  // A second space only where there is Chinese for it to find (retrieval.md, which space).
  const chinese = holdings.languages.has('zh') || holdings.languages.has('mixed');
  const more = chinese && first !== undefined && others.length > 0 ? await embed(others) : [];
  const topK = input.top_k ?? deps.defaultTopK;
  const floor = TIER[input.trust_floor ?? 'external'];
  const spec: SearchSpec = {
    query,
    ...(also === undefined ? {} : { also }),
    vectors: [...(first ?? []), ...(more ?? [])],
    filter: hardFilter(input, floor),
    profile: options.candidates === undefined ? profile : { ...profile, candidates: options.candidates },
    topK,
    askedAtMs: input.asked_at === undefined ? (asOf?.ms ?? nowMs) : Date.parse(input.asked_at),
    taskId: input.task_id,
    taskType: input.task_type,
    passages: holdings.passages,
    ...(asOf === undefined ? {} : { asOf }),
  };
  const screen = { ...options.screen, floor, influenceOnly: input.influence_only === true };
  const screening = await screened(deps, spec, request, screen, call.signal, options.once);
  const withoutVectors = first === undefined || more === undefined || screening.withoutVectors;
  const degraded = [...(withoutVectors ? ['vector'] : []), ...(screening.degraded ? ['guard'] : [])];
  return { screening, brought: screening.brought, query, also, spec, profile, topK, floor, request, degraded };
}

/** Candidates of the second query, for an answer that copies have emptied: what 50 copies of one text leave fills 20 places still. */
const MORE_CANDIDATES = 100;

/**
 * Ranked, screened hits. Forgetting gets every copy, in its place; a search gets near-duplicates once, and when the screen leaves too few
 * of a full page for it, once more from a longer one.
 */
async function screened(
  deps: MemoryDeps,
  spec: SearchSpec,
  request: AccessRequest,
  options: HitOptions,
  signal: AbortSignal,
  once = spec.asOf !== undefined,
): Promise<Screening<RankedHit> & Pick<Found, 'brought'> & { readonly withoutVectors: boolean }> {
  const query = deps.guard.scope(spec, request);
  const { hits: brought, found, withoutVectors } = await ranked(deps, query, spec, signal);
  // ids alone leave the service here, and what is held back must be within reach of forgetting
  if (request.action === 'forget')
    return {
      ...(await deps.guard.screenHits(brought, query, { ...options, influenceOnly: false, unshown: true })),
      brought,
      withoutVectors,
    };
  const screening = await deps.guard.screenHits(brought, query, {
    ...options,
    prompt: true,
    topK: spec.topK,
    query: wordings(spec).join('\n'),
  });
  const { candidates } = spec.profile;
  if (once || screening.items.length >= spec.topK || found < candidates || candidates >= MORE_CANDIDATES)
    return { ...screening, brought, withoutVectors };
  return screened(deps, { ...spec, profile: { ...spec.profile, candidates: MORE_CANDIDATES } }, request, options, signal);
}

/** The index's hits in order, and how many it brought. */
async function ranked(
  deps: MemoryDeps,
  query: Scoped<SearchSpec>,
  spec: SearchSpec,
  signal: AbortSignal,
): Promise<{ readonly hits: Unscreened<readonly RankedHit[]>; readonly found: number; readonly withoutVectors: boolean }> {
  // before any score is compared with min_score: that too could be asked again and again
  const { scopes } = query.scope.principal;
  let found = 0;
  const brought = await deps.index.search(query);
  const { page: scored, degraded } =
    spec.asOf === undefined ? { page: brought, degraded: false } : await withPastVectors(deps, brought, spec, signal);
  const hits = mapUnscreened(scored, (page) => {
    found = page.hits.length;
    const fused = fuse(page, spec);
    return scopes.has('memory:admin') ? fused : fused.map(coarse);
  });
  return { hits, found, withoutVectors: degraded };
}

/** Read-your-writes: what was acknowledged before this search is in it, and in what the namespaces are said to hold. */
async function visibleHoldings(deps: MemoryDeps, probe: Scoped<{ readonly key: string }>): ReturnType<MemoryDeps['index']['holdings']> {
  await makeVisible(deps, probe.scope.tenant);
  return deps.index.holdings(probe);
}

/** One refresh when there are acknowledged writes that no search has made visible yet. */
export async function makeVisible(deps: Pick<MemoryDeps, 'dirty' | 'index'>, tenant: string): Promise<void> {
  await deps.dirty.settle(tenant, () => deps.index.refresh(tenant));
}

/** @throws ERR_REQUEST_INVALID for a time that is to come, or before all that is asked for. */
function asOfIn({ as_of: time, filter }: SearchInput, statuses: readonly Status[], nowMs: number): AsOf | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  if (ms > nowMs) throw invalid('/as_of', 'is in the future: nobody knows yet what will be held then');
  if (filter?.created?.gte !== undefined && Date.parse(filter.created.gte) > ms)
    throw invalid('/as_of', 'is before filter.created.gte: nothing can fit both');
  return { ms, statuses };
}

function profileOf(deps: MemoryDeps, input: SearchInput): RankingProfile {
  const profile = deps.profiles.get(input.profile ?? DEFAULT_PROFILE);
  if (profile === undefined) throw invalid('/profile', `is not a ranking profile; there are ${[...deps.profiles.keys()].join(', ')}`);
  return input.weights === undefined ? profile : withWeights(profile, input.weights);
}

/** The caller's conditions without `status` (the scope holds it), with the trust floor, so that the engine's candidates are not wasted. */
function hardFilter(input: SearchInput, floor: number): Filter {
  const { status: _inScope, ...filter } = input.filter ?? {};
  if (floor === TIER.external) return filter;
  const allowed = TIER_NAMES.filter((tier) => TIER[tier] >= floor);
  return { ...filter, trust: (filter.trust ?? allowed).filter((tier) => allowed.includes(tier)) };
}

/** Names everything the mandatory filter depends on, except the time. */
function holdingsKey({ principal, action, reach, statuses }: AccessRequest): string {
  const scopes = [...principal.scopes].sort();
  return JSON.stringify([principal.owner, principal.ownNamespace, principal.grants, scopes, action, reach, statuses ?? null]);
}
