/** The turns before and after a hit, for a search that asks for them: read through the same access filter, statuses, expiry and screen as the hits. */
import type { HitRecord } from '../domain/ranking.ts';
import { mapUnscreened } from '../domain/sealed.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { Neighbour } from '../domain/wire/read.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import type { ScreenedItem, ScreenOptions } from '../guard/guard.ts';
import { defined } from './canonical.ts';
import { promptTokens } from './context/tokens.ts';
import type { MemoryDeps } from './deps.ts';
import { trustOf } from './view.ts';

/** What of a hit, as it is stored, says where it stands. */
export type Place = Pick<HitRecord, 'memory_id' | 'namespace' | 'owner' | 'session_id' | 'turn'>;

export interface NeighbourOptions extends Pick<ScreenOptions, 'floor' | 'boundary'> {
  /** Turns on either side. */
  readonly steps: number;
  /** Tokens that they may take in all, as estimated; without it as many as there are. */
  readonly room?: number | undefined;
}

type Turn = Place & Required<Pick<Place, 'session_id' | 'turn'>>;

/** Records read of one session at most: several memories may have been kept of one turn. */
const PAGE = 200;

/**
 * By a hit's memory_id its neighbours in the order of their turns; each text stands in an answer once, with the better hit, and none that is
 * a hit itself. Of several memories of one turn the most trusted, then the first one. One search for each session that the hits are of, and
 * none where they are of no session. ERR_STORE_*.
 */
export async function neighboursOf(
  deps: Pick<MemoryDeps, 'index' | 'guard'>,
  request: AccessRequest,
  hits: readonly Place[],
  { steps, floor, boundary, room = Infinity }: NeighbourOptions,
): Promise<ReadonlyMap<string, readonly Neighbour[]>> {
  const sessions = bySession(hits.filter(isTurn));
  const screen = { ...defined({ floor, boundary }), prompt: true };
  const found = new Map<string, readonly ScreenedItem<MemoryRecord>[]>();
  await Promise.all(
    [...sessions].map(async ([key, turns]) => {
      const by = deps.guard.scope({ filter: {}, links: linksOf(turns, steps), limit: PAGE, after: undefined }, request);
      const records = mapUnscreened(await deps.index.list(by), (page) => page.records);
      found.set(key, (await deps.guard.screenRecords(records, by, screen)).items);
    }),
  );
  const shown = new Set(hits.map((hit) => hit.memory_id));
  const chosen = new Map<string, readonly Neighbour[]>();
  let left = room;
  for (const hit of hits.filter(isTurn)) {
    const near = around(hit, steps, found.get(sessionOf(hit)) ?? []).filter(({ value }) => !shown.has(value.memory_id));
    const taken = near.map(viewOf).filter(({ memory_id: id, tokens }) => {
      if (tokens > left) return false;
      left -= tokens;
      shown.add(id);
      return true;
    });
    if (taken.length > 0) chosen.set(hit.memory_id, taken);
  }
  return chosen;
}

const isTurn = (hit: Place): hit is Turn => hit.session_id !== undefined && hit.turn !== undefined;

/** Ids of sessions are their owner's: another one's session of that name is another session. */
const sessionOf = ({ namespace, owner, session_id }: Turn): string => JSON.stringify([namespace, owner, session_id]);

function bySession(turns: readonly Turn[]): ReadonlyMap<string, readonly Turn[]> {
  const sessions = new Map<string, Turn[]>();
  for (const turn of turns) sessions.set(sessionOf(turn), [...(sessions.get(sessionOf(turn)) ?? []), turn]);
  return sessions;
}

/** Nearest first. */
function steppedFrom({ turn }: Turn, steps: number): readonly number[] {
  return Array.from({ length: steps }, (_, i) => [turn - i - 1, turn + i + 1])
    .flat()
    .filter((number) => number >= 0);
}

function linksOf(turns: readonly Turn[], steps: number) {
  const [{ namespace, owner, session_id }] = turns as [Turn, ...Turn[]];
  return {
    namespace: [namespace],
    owner: [owner],
    session_id: [session_id],
    turn: [...new Set(turns.flatMap((turn) => steppedFrom(turn, steps)))],
  };
}

function around(hit: Turn, steps: number, session: readonly ScreenedItem<MemoryRecord>[]): readonly ScreenedItem<MemoryRecord>[] {
  return steppedFrom(hit, steps)
    .flatMap((turn) => {
      const [best] = session.filter(({ value }) => value.turn === turn).sort((a, b) => order(a.value, b.value));
      return best ?? [];
    })
    .sort((a, b) => (a.value.turn ?? 0) - (b.value.turn ?? 0));
}

function order(a: MemoryRecord, b: MemoryRecord): number {
  return b.trust_tier - a.trust_tier || (a.memory_id < b.memory_id ? -1 : 1);
}

function viewOf({ value, referenceOnly, trust }: ScreenedItem<MemoryRecord>): Neighbour & { readonly turn: number } {
  return {
    memory_id: value.memory_id,
    turn: value.turn ?? 0,
    content: value.content,
    trust: trustOf(value, trust),
    reference_only: referenceOnly,
    created_at: value.created_at,
    status: value.status,
    tokens: promptTokens(value.content),
    ...defined({ subject: value.subject, occurred_at: value.occurred_at }),
  };
}
