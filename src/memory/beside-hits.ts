/** What a search shows beside its hits: what they said before, since when they hold, the turns around them; none of it is a reason not to answer. */
import type { RankedHit } from '../domain/ranking.ts';
import { mapUnscreened } from '../domain/sealed.ts';
import type { Neighbour, SearchInput } from '../domain/wire/read.ts';
import type { ScreenedItem } from '../guard/guard.ts';
import type { Given } from './budget.ts';
import type { MemoryDeps } from './deps.ts';
import { neighboursOf, type NeighbourOptions, type Place } from './neighbours.ts';
import type { Found } from './rank.ts';
import { heldSince, predecessorsOf, type Held, type Was } from './was.ts';

export interface Past {
  readonly was?: ReadonlyMap<string, Was>;
  readonly held?: ReadonlyMap<string, Held>;
  readonly degraded: readonly string[];
}

/**
 * What the hits said before, or, where what no longer holds is among them, when each of them held. One that cannot be looked up is no reason
 * not to answer.
 */
export async function pastOf(
  deps: MemoryDeps,
  input: SearchInput,
  { request, floor }: Pick<Found, 'request' | 'floor'>,
  shown: readonly ScreenedItem<RankedHit>[],
  boundary: string,
): Promise<Past> {
  const records = shown.map(({ value }) => value.record);
  try {
    if (input.as_of !== undefined || input.include_superseded === true)
      return { held: await heldSince(deps, request, records), degraded: [] };
    // what one side alone said has no place in an answer that wants two
    if (input.influence_only === true) return { degraded: [] };
    return { was: await predecessorsOf(deps, request, records, { floor, boundary }), degraded: [] };
  } catch (error) {
    deps.onDegraded?.('was', error);
    return { degraded: ['was'] };
  }
}

/** What the hits leave of a token budget. */
export function roomIn({ token_budget: budget }: SearchInput, given: readonly Given[] | undefined): number | undefined {
  return budget === undefined ? undefined : budget - (given ?? []).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The turns around the hits, where they are asked for; what cannot be looked up is no reason not to answer. */
export async function nearOf(
  deps: MemoryDeps,
  { neighbours: steps = 0, influence_only: alone = false }: SearchInput,
  { request, floor, brought }: Pick<Found, 'request' | 'floor' | 'brought'>,
  shown: readonly ScreenedItem<RankedHit>[],
  options: Pick<NeighbourOptions, 'boundary' | 'room'>,
): Promise<{ readonly turns: ReadonlyMap<string, readonly Neighbour[]>; readonly degraded: readonly string[] }> {
  // what one side alone said has no place in an answer that wants two
  if (steps === 0 || alone || shown.length === 0) return { turns: new Map(), degraded: [] };
  const places: Place[] = [];
  // as they are stored: a session's name may be in the envelope
  mapUnscreened(brought, (hits) => {
    const byId = new Map(hits.map(({ record }) => [record.memory_id, record]));
    places.push(...shown.flatMap(({ value }) => byId.get(value.record.memory_id) ?? []));
  });
  try {
    return { turns: await neighboursOf(deps, request, places, { ...options, steps, floor }), degraded: [] };
  } catch (error) {
    deps.onDegraded?.('neighbours', error);
    return { turns: new Map(), degraded: ['neighbours'] };
  }
}
