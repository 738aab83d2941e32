/** Why a memory did not come back: each one asked about is followed through the search that was just made, up to what stopped it. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { RankedHit } from '../../domain/ranking.ts';
import { mapUnscreened } from '../../domain/sealed.ts';
import type { SearchInput, WhyNot } from '../../domain/wire/read.ts';
import { standingFor } from '../../guard/confirmation.ts';
import type { ScreenedItem } from '../../guard/guard.ts';
import { isCopy } from '../../guard/screening/arrange.ts';
import { coarse } from '../../ranking/coarse.ts';
import { floorsFor, fuse } from '../../ranking/fuse.ts';
import { signalsOf } from '../../ranking/signal-ranks.ts';
import { wordings } from '../../ranking/wordings.ts';
import { defined } from '../canonical.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import type { Found } from '../rank.ts';
import { inReach, knownOf, unmetBy } from './access.ts';
import { sentenceOf } from './sentences.ts';

/** How the search ended. */
export interface Ended {
  readonly found: Pick<Found, 'request' | 'spec' | 'screening' | 'brought' | 'profile' | 'topK' | 'floor'>;
  /** What is relevant, in its last order. */
  readonly ranked: readonly ScreenedItem<RankedHit>[];
  readonly shown: readonly ScreenedItem<RankedHit>[];
  readonly nothingRelevant: boolean;
}

type Answer = Omit<WhyNot, 'memory_id' | 'sentence'>;

/**
 * For each id, in order, the first thing that kept it out, or its place and parts. An id of another tenant, of a namespace outside the grant,
 * of somebody's private memory and one that there is not are one answer. ERR_STORE_*.
 */
export async function whyNot(deps: MemoryDeps, input: SearchInput, ended: Ended, call: CallContext): Promise<WhyNot[]> {
  const asked = input.why_not ?? [];
  const { request } = ended.found;
  const known = await knownOf(deps, request, asked, call.signal);
  const reached = [...known.values()].filter((record) => inReach(deps, request, record));
  const ids = reached.map(({ memory_id: id }) => id);
  const [unmet, judged] = await Promise.all([
    unmetBy(deps, request, ended.found.spec.filter, ids),
    judgedOf(
      deps,
      ended,
      ids.filter((id) => !place(ended.found.screening.items, id)),
      call,
    ),
  ]);
  const answers = await Promise.all(
    asked.map(async (id): Promise<Answer> => {
      const record = known.get(id);
      if (record === undefined) return { outcome: 'unknown' };
      if (!ids.includes(id)) return { outcome: 'namespace' };
      return keptOut(record, ended, unmet.get(id) ?? []) ?? (await judgedBy(deps, input, ended, { id, judged: judged.get(id) }));
    }),
  );
  return answers.map((answer, i) => ({ memory_id: asked[i] ?? '', ...answer, sentence: sentenceOf(answer) }));
}

/** What the mandatory filter and the caller's say of it. */
function keptOut(record: MemoryRecord, { found: { request, floor } }: Ended, unmet: readonly string[]): Answer | undefined {
  if (request.statuses?.includes(record.status) !== true) return { outcome: 'status', status: record.status };
  if (record.expires_at !== undefined && Date.parse(record.expires_at) <= request.nowMs) return { outcome: 'expired' };
  const { tier } = standingFor(record, request.principal.owner);
  if (tier < floor) return { outcome: 'trust_floor' };
  return unmet.length > 0 ? { outcome: 'filter', conditions: [...unmet] } : undefined;
}

interface Judged {
  readonly hit: RankedHit;
  /** Place in the one query. */
  readonly place: number;
}

/** How the one query scores these, candidates or not. */
async function judgedOf(
  deps: MemoryDeps,
  { found: { spec, request } }: Ended,
  ids: readonly string[],
  { principal }: CallContext,
): Promise<ReadonlyMap<string, Judged>> {
  if (ids.length === 0) return new Map();
  const by = deps.guard.scope({ ...spec, only: ids }, request);
  const hits: RankedHit[] = [];
  const scores: number[] = [];
  mapUnscreened(await deps.index.search(by), (page) => {
    const permitted = { ...page, hits: page.hits.filter(({ record }) => by.scope.permits(record)) };
    scores.push(...permitted.hits.map(({ score }) => score));
    const fused = fuse(permitted, spec);
    for (const { record } of permitted.hits) hits.push(...fused.filter((hit) => hit.record.memory_id === record.memory_id));
  });
  const places = await deps.index.places(deps.guard.scope({ spec, scores }, request));
  const told = principal.scopes.has('memory:admin') ? hits : hits.map(coarse);
  return new Map(told.map((hit, i) => [hit.record.memory_id, { hit, place: places[i] ?? 0 }]));
}

/** What ranking, screen and the cut say of it. */
async function judgedBy(
  deps: MemoryDeps,
  input: SearchInput,
  ended: Ended,
  { id, judged }: { readonly id: string; readonly judged: Judged | undefined },
): Promise<Answer> {
  const { found } = ended;
  const among = found.screening.items.map(({ value }) => value);
  const partsOf = (hit: RankedHit): Pick<Answer, 'score' | 'signals'> => ({ score: hit.score, signals: signalsOf(hit, among) });
  const item = [...ended.ranked, ...found.screening.items].find(({ value }) => value.record.memory_id === id);
  if (item !== undefined) return ranked(input, ended, item.value, partsOf(item.value));
  if (judged === undefined) return { outcome: 'no_match' };
  if (!(await passesAlone(deps, ended, judged.hit))) return { outcome: 'screened' };
  if (!isBrought(ended, id)) return { outcome: 'candidates', engine_rank: judged.place, ...partsOf(judged.hit) };
  const copy = copyOf(ended, judged.hit);
  if (copy !== undefined || input.influence_only !== true)
    return { outcome: 'duplicate', ...defined({ duplicate_of: copy }), ...partsOf(judged.hit) };
  return { outcome: 'influence_only', ...partsOf(judged.hit) };
}

function ranked(input: SearchInput, ended: Ended, hit: RankedHit, parts: Pick<Answer, 'score' | 'signals'>): Answer {
  const { found, shown, nothingRelevant } = ended;
  const id = hit.record.memory_id;
  const rank = place(ended.ranked, id) || place(found.screening.items, id);
  if (place(shown, id) > 0) return { outcome: 'returned', rank, ...parts };
  if (input.min_score !== undefined && (parts.score ?? 0) < input.min_score)
    return { outcome: 'min_score', rank, needed: input.min_score, ...parts };
  if (nothingRelevant) {
    const { floor, floors } = found.profile;
    return { outcome: 'nothing_relevant', rank, needed: floorsFor(wordings(found.spec), floor, floors)(hit), ...parts };
  }
  if (rank <= found.topK) return { outcome: 'token_budget', rank, ...parts };
  const needed = ended.ranked[found.topK - 1]?.value.score;
  return { outcome: 'outranked', rank, ...defined({ needed }), ...parts };
}

/** From 1; 0: not among them. */
function place(items: readonly ScreenedItem<RankedHit>[], id: string): number {
  return items.findIndex(({ value }) => value.record.memory_id === id) + 1;
}

/** Does the guard's screen let it through where nothing stands beside it? */
async function passesAlone(deps: MemoryDeps, { found: { brought, request, floor } }: Ended, hit: RankedHit): Promise<boolean> {
  const by = deps.guard.scope({}, request);
  const alone = mapUnscreened(brought, () => [hit]);
  return (await deps.guard.screenHits(alone, by, { floor, prompt: true })).items.length > 0;
}

function isBrought({ found: { brought } }: Ended, id: string): boolean {
  let found = false;
  mapUnscreened(brought, (hits) => void (found = hits.some(({ record }) => record.memory_id === id)));
  return found;
}

/** The hit that says the same and took its place. */
function copyOf({ found: { brought, screening } }: Ended, { record }: RankedHit): string | undefined {
  let copy: string | undefined;
  mapUnscreened(brought, (hits) => {
    const other = hits.find((hit) => place(screening.items, hit.record.memory_id) > 0 && isCopy(hit.record, record));
    copy = other?.record.memory_id;
  });
  return copy;
}
