/** Links a turn to the one before it (id and context field) at the write, and rebuilds the one after it when a turn changes or goes. */
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import type { Action } from '../domain/scope.ts';
import { mapUnscreened } from '../domain/sealed.ts';
import { lendsContext } from '../domain/turns.ts';
import type { CallContext } from './gateway.ts';
import type { MemoryDeps } from './deps.ts';
import { dueSpaces } from './record.ts';
import { contextField } from './texts.ts';
import { withoutVectors } from './versions.ts';

/** Sessions whose last turn is remembered in this process, so that the next turn finds it without a search. */
const MAX_SESSIONS = 10_000;
/** Turns of a session that are looked through when the last one is not remembered. */
const LOOK_BACK = 100;
const MAX_TRIES = 5;

type Turn = Pick<MemoryRecord, 'tenant' | 'namespace' | 'owner' | 'session_id' | 'turn'>;

export interface TurnLinks {
  /** The record with its context field made anew: own words and, while it may lend them, those of the turn before. */
  withContext(record: MemoryRecord, call: CallContext): Promise<MemoryRecord>;
  /** Records to be stored with prev_turn_id, next_turn_id and context, from each other or from what is stored already. */
  linkAll(records: readonly MemoryRecord[], call: CallContext): Promise<readonly MemoryRecord[]>;
  /** To be told of stored turns. */
  remember(record: MemoryRecord): void;
  /** Rebuilds the successor's context field and makes its vectors due; `changed` as it will be, undefined when it goes. */
  rebuildSuccessor(before: MemoryRecord, changed: MemoryRecord | undefined, call: CallContext, action: Action): Promise<void>;
}

export function createTurnLinks(deps: MemoryDeps): TurnLinks {
  const last = new Map<string, { readonly turn: number; readonly memoryId: string }>();

  const load = async (memoryId: string, record: Turn, call: CallContext, action: Action): Promise<StoredRecord | undefined> => {
    const by = deps.guard.scope(
      { memoryIds: [memoryId] },
      { principal: call.principal, action, reach: [record.namespace], nowMs: deps.clock() },
    );
    return deps.guard.permitted(await deps.index.get(by), by)[0];
  };

  /** Ids of the session's turns, newest first. */
  const find = async (record: Turn, turn: number, call: CallContext, action: Action): Promise<string | undefined> => {
    await deps.dirty.settle(record.tenant, () => deps.index.refresh(record.tenant));
    const filter = { session_id: record.session_id, owner: record.owner };
    const by = deps.guard.scope(
      { filter, limit: LOOK_BACK, after: undefined },
      { principal: call.principal, action, reach: [record.namespace], nowMs: deps.clock() },
    );
    const page = await deps.index.list(by);
    const records = deps.guard.permitted(
      mapUnscreened(page, (p) => p.records),
      by,
    );
    return records.find((r) => r.turn === turn)?.memory_id;
  };

  const previousOf = async (record: MemoryRecord, call: CallContext): Promise<MemoryRecord | undefined> => {
    if (record.session_id === undefined || record.turn === undefined || record.turn === 0) return undefined;
    const known = last.get(keyOf(record));
    const id = known?.turn === record.turn - 1 ? known.memoryId : await find(record, record.turn - 1, call, 'write');
    return id === undefined ? undefined : (await load(id, record, call, 'write'))?.record;
  };

  const linked = (record: MemoryRecord, previous: MemoryRecord | undefined): MemoryRecord =>
    previous !== undefined && lendsContext(previous, record, deps.clock())
      ? withContext({ ...record, prev_turn_id: previous.memory_id }, previous)
      : record;

  return {
    withContext: async (record, call) => {
      const previous = record.prev_turn_id === undefined ? undefined : await load(record.prev_turn_id, record, call, 'write');
      const lends = previous !== undefined && lendsContext(previous.record, record, deps.clock());
      return withContext(record, lends ? previous.record : undefined);
    },
    linkAll: async (records, call) => {
      const turns = records.filter((r) => r.session_id !== undefined && r.turn !== undefined);
      const byTurn = new Map(turns.map((r) => [turnKey(r, 0), r]));
      const first = new Map<string, number>();
      for (const r of turns) first.set(keyOf(r), Math.min(first.get(keyOf(r)) ?? Infinity, r.turn ?? 0));
      const result: MemoryRecord[] = [];
      for (const record of records) {
        if (record.session_id === undefined || record.turn === undefined) {
          result.push(record);
          continue;
        }
        const next = byTurn.get(turnKey(record, 1));
        const known = next !== undefined && lendsContext(record, next, deps.clock()) ? { ...record, next_turn_id: next.memory_id } : record;
        // Only a session's first turn of the batch can follow one that is stored already; a gap inside is a gap.
        const outside = first.get(keyOf(record)) === record.turn ? await previousOf(record, call) : undefined;
        result.push(linked(known, byTurn.get(turnKey(record, -1)) ?? outside));
      }
      return result;
    },
    remember: (record) => {
      if (record.session_id === undefined || record.turn === undefined) return;
      const key = keyOf(record);
      if ((last.get(key)?.turn ?? -1) > record.turn) return;
      last.delete(key);
      last.set(key, { turn: record.turn, memoryId: record.memory_id });
      const [oldest] = last.size > MAX_SESSIONS ? last.keys() : [];
      if (oldest !== undefined) last.delete(oldest);
    },
    rebuildSuccessor: async (before, changed, call, action) => {
      if (before.session_id === undefined || before.turn === undefined) return;
      const id = before.next_turn_id ?? (await find(before, before.turn + 1, call, action));
      if (id === undefined) return;
      for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
        const stored = await load(id, before, call, action);
        if (stored === undefined || stored.record.prev_turn_id !== before.memory_id) return;
        const lends = changed !== undefined && lendsContext(changed, stored.record, deps.clock());
        const { prev_turn_id: _gone, ...alone } = withoutVectors(stored.record);
        const rebuilt = lends ? withContext({ ...alone, prev_turn_id: before.memory_id }, changed) : withContext(alone, undefined);
        const due = { ...rebuilt, spaces_due: dueSpaces(deps, rebuilt) };
        if ((await deps.index.replace(deps.guard.readmit(due, stored.record), stored.at)) === 'replaced') return;
      }
    },
  };
}

function withContext(record: MemoryRecord, previous: MemoryRecord | undefined): MemoryRecord {
  const { lex_context: _old, ...rest } = record;
  const context = contextField(record, previous);
  return context === undefined ? rest : { ...rest, lex_context: context };
}

const keyOf = (turn: Turn): string => JSON.stringify([turn.tenant, turn.namespace, turn.owner, turn.session_id]);
const turnKey = (turn: Turn, step: number): string => `${keyOf(turn)}#${(turn.turn ?? -1) + step}`;
