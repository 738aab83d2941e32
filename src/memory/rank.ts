/** Ranked hits: scope, query vectors, the one hybrid query, fusion, and the guard's screen on what comes back; search, context and forget read by it. */
import { SEARCHABLE_STATUSES, type Status } from '../domain/memory.ts';
import type { AsOf, SearchSpec, RankingProfile, RankedHit } from '../domain/ranking.ts';
import { mapUnscreened, type Scoped, type Unscreened } from '../domain/sealed.ts';
import { TIER, TIER_NAMES } from '../domain/trust.ts';
import type { Filter } from '../domain/wire/common.ts';
import type { SearchInput } from '../domain/wire/read.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import type { HitOptions, Screening } from '../guard/guard.ts';
import { candidates } from '../ranking/candidates.ts';
import { coarse } from '../ranking/coarse.ts';
import { fuse } from '../ranking/fuse.ts';
import { withWeights } from '../ranking/profile.ts';
import { wordings } from '../ranking/wordings.ts';
import { hasHan } from '../text/script.ts';
import { askedIn } from './asked.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { maskedQuery } from './masking.ts';
import { withPastVectors } from './past-vectors.ts';
import { queryVectors, spacesFor } from './query-vectors.ts';
import { invalid } from './record.ts';
import { searchStatuses } from './statuses.ts';
import { makeVisible } from './visible.ts';

export const DEFAULT_PROFILE = 'assistant';

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
  const asked = profileOf(deps, input);
  // what a forget by query takes goes by what it says, whatever else was said before
  const profile = action === 'forget' ? withWeights(asked, { newest: 0 }) : asked;
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
  const lastSentence = profile.boosts[texts.some(hasHan) ? 'last_sentence_han' : 'last_sentence'];
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
    profile: { ...profile, candidates: options.candidates ?? candidatesOf(deps, profile) },
    topK,
    askedAtMs: input.asked_at === undefined ? (asOf?.ms ?? nowMs) : Date.parse(input.asked_at),
    taskId: input.task_id,
    taskType: input.task_type,
    passages: holdings.passages,
    // an earlier version may have had one
    summaries: holdings.summaries || asOf !== undefined,
    explain: input.explain === true || input.why_not !== undefined,
    ...(asOf === undefined ? {} : { asOf }),
  };
  const screen = { ...options.screen, floor, influenceOnly: input.influence_only === true };
  const screening = await screened(deps, spec, request, screen, call.signal, options.once);
  const withoutVectors = first === undefined || more === undefined || screening.withoutVectors;
  const degraded = [...(withoutVectors ? ['vector'] : []), ...(screening.degraded ? ['guard'] : [])];
  return { screening, brought: screening.brought, query, also, spec, profile, topK, floor, request, degraded };
}

/** A cross-encoder chooses among more. */
function candidatesOf({ reranker }: Pick<MemoryDeps, 'reranker'>, { candidates, rerank }: RankingProfile): number {
  return reranker === undefined ? candidates : Math.max(candidates, rerank?.candidates ?? 0);
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
  const wanted = candidates(spec);
  if (once || screening.items.length >= spec.topK || found < wanted || wanted >= MORE_CANDIDATES)
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
