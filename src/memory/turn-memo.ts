/** The last turn of each running session, remembered in this process: the next turn finds it without a search. */
import type { MemoryRecord } from '../domain/memory.ts';

/** A record that is a turn of a session. */
export type Turn = MemoryRecord & { readonly session_id: string; readonly turn: number };

export interface LastTurn {
  readonly turn: number;
  readonly memoryId: string;
}

export interface TurnMemo {
  /** Of the record's session and owner. */
  last(record: Turn): LastTurn | undefined;
  remember(record: Turn): void;
}

const MAX_SESSIONS = 10_000;

/** Forgets the session that was silent longest when there are too many. */
export function createTurnMemo(): TurnMemo {
  const last = new Map<string, LastTurn>();
  return {
    last: (record) => last.get(sessionKey(record)),
    remember: (record) => {
      const key = sessionKey(record);
      if ((last.get(key)?.turn ?? -1) > record.turn) return;
      last.delete(key);
      last.set(key, { turn: record.turn, memoryId: record.memory_id });
      const [oldest] = last.size > MAX_SESSIONS ? last.keys() : [];
      if (oldest !== undefined) last.delete(oldest);
    },
  };
}

export function isTurn(record: MemoryRecord): record is Turn {
  return record.session_id !== undefined && record.turn !== undefined;
}

/** Names a turn of a session and owner; `step` 1 the one after the record's. */
export function turnKey(record: MemoryRecord, step: number): string {
  return `${sessionKey(record)}#${(record.turn ?? -1) + step}`;
}

function sessionKey({ tenant, namespace, owner, session_id }: MemoryRecord): string {
  return JSON.stringify([tenant, namespace, owner, session_id]);
}
