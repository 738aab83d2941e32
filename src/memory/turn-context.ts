/** What a stored turn borrows from the one before it: taken away, and made anew from what that one is now; each a compare-and-set. */
import { isoTime } from '../domain/clock.ts';
import { SEARCHABLE_STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { DetachedTurn } from '../domain/ports.ts';
import { DETACHED, lendsContext } from '../domain/turns.ts';
import { HindsightError } from '../errors.ts';
import type { MemoryDeps } from './deps.ts';
import { dueSpaces } from './record.ts';
import type { Place, ServiceReads } from './service-reads.ts';
import { contextField } from './texts.ts';
import { MAX_CAS_TRIES, withoutVectors } from './versions.ts';

export type TurnDeps = Pick<MemoryDeps, 'index' | 'guard' | 'dirty' | 'embedder' | 'clock'>;

export interface RenewOptions {
  /** Turns that may be the one before it, looked at before a search. */
  readonly hints?: readonly string[];
  /** Also when the fields look right: its vector may be of older words. */
  readonly force?: boolean;
}

/** Neither marks the tenant dirty: each mark costs the next look-up a refresh, so callers mark once, when they are through. */
export interface TurnContext {
  /** Takes away what these turns borrow from `lenders`; answers those it changed. ERR_VERSION_CONFLICT when one never stands still. */
  detach(place: Place, turns: readonly DetachedTurn[], lenders: readonly string[]): Promise<readonly DetachedTurn[]>;
  /**
   * Links a stored turn to the one before it as both are now; true when that changed it. One that never stands still is left as it is.
   */
  renew(turn: DetachedTurn, options?: RenewOptions): Promise<boolean>;
}

/**
 * A detached turn is left alone this long by the embed job and the repair job: whoever detached it is about to end that. Longer than any
 * single request to the store takes, retries included.
 */
export const DETACHED_MS = 60_000;
/** Turns before one that are looked at when several records tell of it. */
const LENDERS_TRIED = 20;

export function createTurnContext(deps: TurnDeps, reads: ServiceReads): TurnContext {
  const lends = (previous: MemoryRecord, record: MemoryRecord): boolean => lendsContext(previous, record, deps.clock());

  const lenderOf = async (record: MemoryRecord, hints: readonly string[]): Promise<MemoryRecord | undefined> => {
    const { session_id, turn, prev_turn_id: linked } = record;
    if (session_id === undefined || turn === undefined || turn === 0) return undefined;
    const first = async (ids: readonly string[]): Promise<MemoryRecord | undefined> =>
      (await reads.load(record, ids)).map((stored) => stored.record).find((previous) => lends(previous, record));
    const known = await first([...(linked === undefined || linked === DETACHED ? [] : [linked]), ...hints]);
    if (known !== undefined) return known;
    const found = await reads.find(record, { owner: [record.owner], session_id: [session_id], turn: [turn - 1] });
    return first(found.slice(0, LENDERS_TRIED).map((previous) => previous.memory_id));
  };

  /** With vectors gone and due again where somebody searches. */
  const replace = async (stored: StoredRecord, wanted: MemoryRecord, more: Partial<MemoryRecord> = {}): Promise<boolean> => {
    const searched = SEARCHABLE_STATUSES.includes(wanted.status);
    const next = { ...withoutVectors(wanted), spaces_due: searched ? dueSpaces(deps, wanted) : [], ...more };
    return (await deps.index.replace(deps.guard.readmit(next, stored.record), stored.at)) === 'replaced';
  };

  return {
    detach: async (place, turns, lenders) => {
      const detached: DetachedTurn[] = [];
      for (const turn of turns) {
        for (let attempt = 0; ; attempt += 1) {
          if (attempt === MAX_CAS_TRIES) throw new HindsightError('ERR_VERSION_CONFLICT');
          const [stored] = await reads.load(place, [turn.memory_id]);
          if (stored === undefined || !lenders.includes(stored.record.prev_turn_id ?? '')) break;
          const alone = { ...linkedTo(stored.record, undefined), prev_turn_id: DETACHED };
          if (!(await replace(stored, alone, { lease_until: isoTime(deps.clock() + DETACHED_MS) }))) continue;
          detached.push({ ...place, memory_id: turn.memory_id });
          break;
        }
      }
      return detached;
    },

    renew: async (turn, { hints = [], force = false } = {}) => {
      for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
        const [stored] = await reads.load(turn, [turn.memory_id]);
        if (stored === undefined) return false;
        const { record } = stored;
        const wanted = linkedTo(record, await lenderOf(record, hints));
        const same = wanted.prev_turn_id === record.prev_turn_id && wanted.lex_context === record.lex_context;
        if (same && !force) return false;
        if (await replace(stored, wanted)) return true;
      }
      return false;
    },
  };
}

/** The record as it is after `previous`, or alone. */
export function linkedTo(record: MemoryRecord, previous: MemoryRecord | undefined): MemoryRecord {
  const { lex_context: _words, prev_turn_id: _link, ...rest } = record;
  const context = contextField(record, previous);
  return {
    ...rest,
    ...(previous === undefined ? {} : { prev_turn_id: previous.memory_id }),
    ...(context === undefined ? {} : { lex_context: context }),
  };
}
