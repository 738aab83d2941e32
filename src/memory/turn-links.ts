/** Links turns of a session at the write, in both directions, and keeps what a turn borrows (context field, vector) true when the one before it changes or goes. */
import { DEFAULT_STATUSES, type MemoryRecord } from '../domain/memory.ts';
import type { DetachedTurn } from '../domain/ports.ts';
import { lendsContext } from '../domain/turns.ts';
import { byPlace, serviceReads, type Place } from './service-reads.ts';
import { createTurnContext, linkedTo, type TurnDeps } from './turn-context.ts';
import { createTurnMemo, isTurn, turnKey, type LastTurn, type Turn } from './turn-memo.ts';

export interface TurnLinks {
  /** The record with its context field made anew: own words and, while it may lend them, those of the turn before. */
  withContext(record: MemoryRecord): Promise<MemoryRecord>;
  /** Records to be stored with prev_turn_id, next_turn_id and context, from each other or from what is stored already. */
  linkAll(records: readonly MemoryRecord[]): Promise<readonly MemoryRecord[]>;
  /**
   * To be told of turns from `linkAll` once they are stored: those that came after a later turn lend it their words, and what one has
   * borrowed from a turn that changed meanwhile is made anew.
   */
  linkStored(records: readonly MemoryRecord[]): Promise<void>;
  /**
   * Takes the words of these heads back from the turns after them, before the heads change or go: whatever happens next, nobody holds
   * words that no longer stand. ERR_VERSION_CONFLICT when a turn after them never stands still.
   */
  detach(heads: readonly MemoryRecord[]): Promise<readonly DetachedTurn[]>;
  /** Afterwards, with the heads as they are now: lends again what may be lent. Never fails; what it leaves undone the repair job finds. */
  settle(heads: readonly MemoryRecord[], detached: readonly DetachedTurn[]): Promise<void>;
  /** Ends a detachment that nobody ended (jobs/turn-repair). */
  repair(turn: DetachedTurn): Promise<void>;
}

export function createTurnLinks(deps: TurnDeps): TurnLinks {
  const reads = serviceReads(deps);
  const context = createTurnContext(deps, reads);
  const memo = createTurnMemo();
  /** Turns that a record to be stored could have borrowed from when it was linked, and their versions. */
  const looked = new WeakMap<MemoryRecord, ReadonlyMap<string, number>>();

  const lends = (previous: MemoryRecord, record: MemoryRecord): boolean => lendsContext(previous, record, deps.clock());

  /** Stored turns next to these, by turn, newest first and as they are this moment. */
  const neighbours = async (records: readonly Turn[], inBatch: ReadonlyMap<string, MemoryRecord>): Promise<Map<string, MemoryRecord[]>> => {
    const found = new Map<string, MemoryRecord[]>();
    for (const group of byPlace(records)) {
      const ids: string[] = [];
      const sought: Turn[] = [];
      for (const record of group) {
        const known = memo.last(record);
        const isNext = known?.turn === record.turn - 1;
        if (isNext && !inBatch.has(turnKey(record, -1))) ids.push(known.memoryId);
        const seeksPrevious = record.turn > 0 && !isNext && !inBatch.has(turnKey(record, -1));
        // In order, or the first of its session: then nothing can come after it yet that this process knows of.
        const seeksNext = (seeksPrevious || (known?.turn ?? -1) > record.turn) && !inBatch.has(turnKey(record, 1));
        if (seeksPrevious) sought.push({ ...record, turn: record.turn - 1 });
        if (seeksNext) sought.push({ ...record, turn: record.turn + 1 });
      }
      const [place] = group;
      if (place === undefined) continue;
      if (sought.length > 0) ids.push(...(await reads.find(place, turnsSought(sought))).map((r) => r.memory_id));
      for (const { record } of await reads.load(place, ids)) {
        const key = turnKey(record, 0);
        found.set(key, [...(found.get(key) ?? []), record]);
      }
    }
    return found;
  };

  /** Turns after these that borrow from nobody yet borrow from them. */
  const adopt = async (records: readonly Turn[]): Promise<boolean> => {
    let changed = false;
    for (const group of byPlace(records)) {
      const [place] = group;
      if (place === undefined) continue;
      const after = await reads.find(place, turnsSought(group.map((r) => ({ ...r, turn: r.turn + 1 }))));
      for (const next of after) {
        const lender = group.find((record) => lends(record, next));
        if (next.prev_turn_id !== undefined || lender === undefined) continue;
        if (await context.renew(next, { hints: [lender.memory_id] })) changed = true;
      }
    }
    return changed;
  };

  /** What these have borrowed from turns outside of `mine` still stands; otherwise it is made anew. */
  const verify = async (
    group: readonly Turn[],
    mine: ReadonlySet<string>,
    before: ReadonlyMap<string, LastTurn | undefined>,
  ): Promise<boolean> => {
    const [place] = group;
    if (place === undefined) return false;
    let changed = false;
    const lenders = group.flatMap(({ prev_turn_id: id }) => (id === undefined || mine.has(id) ? [] : [id]));
    const now = new Map((await reads.load(place, lenders)).map(({ record }) => [record.memory_id, record]));
    for (const record of group) {
      const { prev_turn_id: id } = record;
      const known = before.get(record.memory_id);
      const versions = looked.get(record);
      if (id === undefined) {
        // Written at the same time as the turn before it: each looked before the other was there.
        const missed = known?.turn === record.turn - 1 && versions?.has(known.memoryId) !== true;
        if (missed && (await context.renew(record, { hints: [known.memoryId] }))) changed = true;
      } else if (!mine.has(id)) {
        const lender = now.get(id);
        const stands = lender !== undefined && lender.version === versions?.get(id) && lends(lender, record);
        if (!stands && (await context.renew(record, { force: true }))) changed = true;
      }
    }
    return changed;
  };

  return {
    withContext: async (record) => {
      const [previous] = await reads.load(record, record.prev_turn_id === undefined ? [] : [record.prev_turn_id]);
      return linkedTo(record, previous !== undefined && lends(previous.record, record) ? previous.record : undefined);
    },

    linkAll: async (records) => {
      const turns = records.filter(isTurn);
      if (turns.length === 0) return records;
      const inBatch = new Map(turns.map((r) => [turnKey(r, 0), r]));
      const stored = await neighbours(turns, inBatch);
      const at = (record: Turn, step: number): readonly MemoryRecord[] => {
        const [key, same] = [turnKey(record, step), inBatch.get(turnKey(record, step))];
        return [...(same === undefined ? [] : [same]), ...(stored.get(key) ?? [])];
      };
      return records.map((record) => {
        if (!isTurn(record)) return record;
        const next = at(record, 1).find((r) => lends(record, r));
        const before = at(record, -1);
        const previous = before.find((r) => lends(r, record));
        const linked = linkedTo(next === undefined ? record : { ...record, next_turn_id: next.memory_id }, previous);
        looked.set(linked, new Map(before.map((r) => [r.memory_id, r.version])));
        return linked;
      });
    },

    linkStored: async (records) => {
      const turns = records.filter(isTurn);
      if (turns.length === 0) return;
      const before = new Map(turns.map((r) => [r.memory_id, memo.last(r)]));
      turns.forEach((record) => memo.remember(record));
      const mine = new Set(turns.map((r) => r.memory_id));
      try {
        let changed = false;
        for (const group of byPlace(turns)) if (await verify(group, mine, before)) changed = true;
        const isLate = (r: Turn): boolean =>
          (before.get(r.memory_id)?.turn ?? -1) > r.turn || (r.next_turn_id !== undefined && !mine.has(r.next_turn_id));
        if (await adopt(turns.filter(isLate))) changed = true;
        if (changed) for (const tenant of new Set(turns.map((r) => r.tenant))) await deps.dirty.mark(tenant);
      } catch {
        // They are stored: the write must not look failed because a link is missing.
      }
    },

    detach: async (heads) => {
      const detached: DetachedTurn[] = [];
      for (const group of byPlace(heads.filter(isTurn))) {
        const [place] = group;
        if (place !== undefined) detached.push(...(await context.detach(place, await borrowersOf(place, group), idsOf(group))));
      }
      return detached;
    },

    settle: async (heads, detached) => {
      try {
        const gone = new Set(detached.map((turn) => turn.memory_id));
        for (const group of byPlace(heads.filter(isTurn))) {
          const [place] = group;
          if (place === undefined) continue;
          // Written while the heads changed, from what they were.
          const raced = (await borrowersOf(place, group)).filter((turn) => !gone.has(turn.memory_id));
          for (const turn of raced) await context.renew(turn, { force: true });
          const ids = idsOf(group);
          for (const turn of detached) {
            const here = turn.tenant === place.tenant && turn.namespace === place.namespace && turn.owner === place.owner;
            // One that has gone itself is in no hurry.
            if (here && !ids.includes(turn.memory_id)) await context.renew(turn, { hints: ids });
          }
          // what has ended lends nothing
          await adopt(group.filter(({ status }) => DEFAULT_STATUSES.includes(status)));
        }
      } catch {
        // The heads have changed: the call must not look failed. What is detached is found by the repair job.
      }
    },

    repair: async (turn) => {
      if (await context.renew(turn)) await deps.dirty.mark(turn.tenant);
    },
  };

  async function borrowersOf(place: Place, heads: readonly MemoryRecord[]): Promise<readonly DetachedTurn[]> {
    return reads.find(place, { prev_turn_id: idsOf(heads) });
  }
}

const idsOf = (records: readonly MemoryRecord[]): readonly string[] => records.map((record) => record.memory_id);

/** The cross product may hold more than was asked for; each finding is judged by lendsContext. */
function turnsSought(turns: readonly Turn[]) {
  return {
    owner: [...new Set(turns.map((t) => t.owner))],
    session_id: [...new Set(turns.map((t) => t.session_id))],
    turn: [...new Set(turns.map((t) => t.turn))],
  };
}
