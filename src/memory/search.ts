/** memory_search: what was ranked, cut to what is relevant and wanted, with what belongs beside it; memory/rank finds it. */
import type { RankedHit } from '../domain/ranking.ts';
import type { SearchAnswer, SearchInput } from '../domain/wire/read.ts';
import type { ScreenedItem } from '../guard/guard.ts';
import { relevance } from '../ranking/fuse.ts';
import { wordings } from '../ranking/wordings.ts';
import { askedIn } from './asked.ts';
import { nearOf, pastOf, roomIn } from './beside-hits.ts';
import { budgetOf, type Budget } from './budget.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { rank } from './rank.ts';
import { noteRecall } from './recall/note.ts';
import { reranked } from './rerank/rerank.ts';
import { givenView, hitView, type HitExtras } from './view.ts';
import { whyNot } from './why-not/why-not.ts';
import { noteReturned } from './working/notes.ts';

/** Failures: ERR_NAMESPACE_FORBIDDEN, ERR_REQUEST_INVALID for an unknown profile or weight, ERR_STORE_UNAVAILABLE. */
export async function search(deps: MemoryDeps, input: SearchInput, call: CallContext): Promise<Omit<SearchAnswer, 'trace_id'>> {
  const startedMs = deps.clock();
  const boundary = deps.guard.boundary();
  const budget = budgetIn(deps, input);
  const screen = budget === undefined ? { boundary } : { boundary, lineOf: budget.lineOf };
  const found = await rank(deps, input, call, 'read', { screen });
  const { hits, nothingRelevant } = relevance(
    found.screening.items.map((item) => item.value),
    {
      query: found.query,
      also: found.also,
      floor: found.profile.floor,
      floors: found.profile.floors,
      minScore: input.min_score,
      keep: input.explain === true,
    },
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
