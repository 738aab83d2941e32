/** Finds what a turn may need: the one hybrid query, wider than a search, of whose hits each that is relevant by itself may stand in the block. */
import type { Layer } from '../../domain/memory.ts';
import type { RankedHit } from '../../domain/ranking.ts';
import type { ContextInput } from '../../domain/wire/context.ts';
import type { SearchInput } from '../../domain/wire/read.ts';
import type { AccessRequest } from '../../gate/access-policy.ts';
import type { ScreenedItem } from '../../guard/guard.ts';
import { relevance } from '../../ranking/fuse.ts';
import { wordings } from '../../ranking/wordings.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { rank, type Found, type RankOptions } from '../rank.ts';
import { reranked } from '../rerank/rerank.ts';
import type { EffortRule } from './policy.ts';

/** The layers of the index; turns of a session come from elsewhere. */
const STORED_LAYERS: readonly Layer[] = ['strategic', 'semantic', 'episodic'];

export interface Gathered {
  /** Relevant ones, best first, at most as many as the effort allows. */
  readonly items: readonly ScreenedItem<RankedHit>[];
  /** What was asked, masked, one wording a line. */
  readonly asked: string;
  /** What the caller may see here. */
  readonly request: AccessRequest;
  readonly degraded: readonly string[];
}

export interface GatherRule {
  readonly effort: EffortRule;
  readonly shareOfBest: number;
  /** Calibrated score from which a memory is put into a prompt. */
  readonly inject: number;
}

/**
 * One query brings the candidates of all layers (bench run, seven people's facts and events in one reach: the recall of a query for each
 * layer in half of its time); with `per_layer` one more for each layer that has nothing relevant among them. Where the best two are close
 * a cross-encoder decides, as in a search. Failures as memory_search has.
 */
export async function gather(
  deps: MemoryDeps,
  input: ContextInput,
  call: CallContext,
  { effort, shareOfBest, inject }: GatherRule,
  screen: NonNullable<RankOptions['screen']>,
): Promise<Gathered> {
  const { token_budget: _budget, session_id: _session, effort: _effort, lang: _lang, turn_id: _turn, ...asked } = input;
  const search: SearchInput = { ...asked, top_k: effort.items };
  const options: RankOptions = { candidates: effort.candidates, once: true, screen };
  const first = await rank(deps, search, call, 'read', options);
  const found = first.screening.items.filter((item) => isRelevant(item, first, inject));
  const empty = effort.per_layer ? STORED_LAYERS.filter((layer) => !found.some(({ value }) => value.record.layer === layer)) : [];
  const more = await Promise.all(empty.map((layer) => rank(deps, { ...search, filter: { layer: [layer] } }, call, 'read', options)));
  const others = more.flatMap((one) => one.screening.items.filter((item) => isRelevant(item, one, inject)));
  const again = await reranked(deps, found, { query: first.query, profile: first.profile, signal: call.signal });
  const items = [...withoutWeak(again.items, shareOfBest), ...withoutWeak(others, shareOfBest)];
  return {
    items: items.sort((a, b) => b.value.score - a.value.score).slice(0, effort.items),
    asked: wordings(first.spec).join('\n'),
    request: first.request,
    degraded: [...new Set([first, again, ...more].flatMap(({ degraded }) => degraded))],
  };
}

/** Without what is far behind the best of its layer. */
function withoutWeak(items: readonly ScreenedItem<RankedHit>[], share: number): readonly ScreenedItem<RankedHit>[] {
  const best = new Map<Layer, number>();
  for (const { value } of items) best.set(value.record.layer, Math.max(value.score, best.get(value.record.layer) ?? 0));
  return items.filter(({ value }) => value.score >= share * (best.get(value.record.layer) ?? 0));
}

/**
 * By the rule that decides whether a search has an answer, of one hit alone: what a search shows beside its best would be noise in a prompt. Nor
 * has anybody asked for a memory here, so one in the question's script needs a higher score than in a search; scores of long questions and
 * of memories in another script tell too little for that.
 */
function isRelevant(
  { value }: ScreenedItem<RankedHit>,
  { query, also, profile: { floor, floors } }: Pick<Found, 'query' | 'also' | 'profile'>,
  inject: number,
): boolean {
  return !relevance([value], { query, also, floor: Math.max(floor, inject), floors }).nothingRelevant;
}
