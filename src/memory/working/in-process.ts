/** Working memory in the process, for one replica without Redis: the same answers as redis/working-memory, within bounds of its own. */
import type { Clock } from '../../domain/clock.ts';
import type { WorkingMemory } from '../../domain/ports.ts';
import { openAdmitted, openScoped, unscreened, type Scoped } from '../../domain/sealed.ts';
import {
  droppedOf,
  markOf,
  sessionOf,
  slotBytes,
  type DroppedText,
  type KeptSlot,
  type KeptTurn,
  type SessionKey,
  type SessionQuery,
  type WorkingLimits,
} from '../../domain/working.ts';
import { createBoundedMap } from './bounded-map.ts';

interface Session {
  readonly turns: readonly string[];
  readonly slots: ReadonlyMap<string, string>;
}

interface Dropped {
  readonly atMs: number;
  readonly text: string;
}

const NOTHING: Session = { turns: [], slots: new Map() };
/** What a session costs besides its texts, and a fingerprint in all: maps, keys, strings (about what a heap snapshot shows). */
const SESSION_BYTES = 512;
const FINGERPRINT_BYTES = 120;

/** Texts lie here as JSON, so that nobody holds on to what is in it and its size is known. Beyond the bounds the least used sessions go. */
export function processWorkingMemory(parts: { readonly clock: Clock; readonly limits: WorkingLimits }): WorkingMemory {
  const { clock, limits } = parts;
  const { ttlMs, dropped: ring, returned, inProcess } = limits;
  const kept = createBoundedMap<Session | readonly Dropped[] | Map<string, number>>({
    clock,
    entries: inProcess.sessions,
    bytes: inProcess.bytes,
  });
  const keyOf = (kind: string, { tenant, namespace, owner, session_id: session }: SessionKey): string =>
    JSON.stringify([kind, tenant, namespace, owner, session]);

  const sessionIn = (session: SessionKey): Session => (kept.get(keyOf('session', session)) as Session | undefined) ?? NOTHING;
  const keepSession = (session: SessionKey, { turns, slots }: Session): void => {
    const texts = [...turns, ...slots.keys(), ...slots.values()];
    kept.set(keyOf('session', session), { turns, slots }, bytesOf(texts), ttlMs);
  };
  /** A read prolongs the life of what it finds. */
  const used = (session: SessionKey): Session => {
    const found = sessionIn(session);
    if (found !== NOTHING) keepSession(session, found);
    return found;
  };
  const droppedIn = (session: SessionKey): readonly Dropped[] => {
    const since = clock() - ring.ttlMs;
    return ((kept.get(keyOf('dropped', session)) ?? []) as readonly Dropped[]).filter(({ atMs }) => atMs > since);
  };
  const returnedTo = (session: SessionKey): Map<string, number> =>
    (kept.get(keyOf('returned', session)) as Map<string, number> | undefined) ?? new Map<string, number>();

  return {
    async addTurn(turn, role) {
      const record = openAdmitted(turn);
      const session = sessionOf(record);
      const one: KeptTurn = { ...markOf(record), content: record.content, role };
      const { turns, slots } = sessionIn(session);
      const now = [...turns, JSON.stringify(one)].slice(-limits.turns);
      keepSession(session, { turns: now, slots });
      return now.length;
    },
    turns: async (of) => unscreened(used(keyIn(of)).turns.map((line) => JSON.parse(line) as KeptTurn)),

    async putState(put, mode, remove) {
      const record = openAdmitted(put);
      const session = sessionOf(record);
      const mark = markOf(record);
      const { turns, slots: before } = used(session);
      const slots = new Map(mode === 'merge' ? before : []);
      for (const name of remove) slots.delete(name);
      for (const [name, value] of Object.entries(record.metadata ?? {})) slots.set(name, JSON.stringify({ ...mark, name, value }));
      let bytes = 1;
      for (const line of slots.values()) {
        const { name, value } = JSON.parse(line) as KeptSlot;
        bytes += slotBytes(name, value);
      }
      if (bytes > limits.stateBytes || slots.size > limits.slots) return 'too_large';
      keepSession(session, { turns, slots });
      return 'kept';
    },
    state: async (of) => {
      const { slots } = used(keyIn(of));
      return unscreened([...slots.values()].map((line) => JSON.parse(line) as KeptSlot).sort((a, b) => (a.name < b.name ? -1 : 1)));
    },

    async noteDropped(text, reason) {
      if (ring.entries === 0) return;
      const record = openAdmitted(text);
      const session = sessionOf(record);
      const one = droppedOf(record, reason, ring.chars);
      const now = [...droppedIn(session), { atMs: clock(), text: JSON.stringify(one) }].slice(-ring.entries);
      kept.set(keyOf('dropped', session), now, bytesOf(now.map((each) => each.text)), ring.ttlMs);
    },
    dropped: async (of) => unscreened(droppedIn(keyIn(of)).map(({ text }) => JSON.parse(text) as DroppedText)),

    async noteReturned(session, fingerprints) {
      if (fingerprints.length === 0 || returned.fingerprints === 0) return;
      const nowMs = clock();
      const known = returnedTo(session);
      // the order of the map is the order of time; a copy of all of them would cost each search more than its own few
      for (const one of fingerprints) {
        known.delete(one);
        known.set(one, nowMs);
      }
      for (const [one, atMs] of known) {
        if (known.size <= returned.fingerprints && atMs > nowMs - returned.ttlMs) break;
        known.delete(one);
      }
      kept.set(keyOf('returned', session), known, SESSION_BYTES + known.size * FINGERPRINT_BYTES, returned.ttlMs);
    },
    async wasReturned(session, fingerprint) {
      return (returnedTo(session).get(fingerprint) ?? -Infinity) > clock() - returned.ttlMs;
    },
  };
}

function keyIn(of: Scoped<SessionQuery>): SessionKey {
  const { tenant, principal } = of.scope;
  return { tenant, owner: principal.owner, ...openScoped(of) };
}

/** Two bytes a character at most: Chinese takes that, other texts half of it. */
const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + 2 * text.length, SESSION_BYTES);
