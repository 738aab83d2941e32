/** Working memory in Redis: every replica sees the sessions; what lies there has passed masking and the guard, under keys that name nobody. */
import type { Redis } from 'ioredis';
import type { Clock } from '../domain/clock.ts';
import type { WorkingMemory } from '../domain/ports.ts';
import { openAdmitted, openScoped, unscreened, type Scoped, type Unscreened } from '../domain/sealed.ts';
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
} from '../domain/working.ts';
import { HindsightError } from '../errors.ts';
import { BREAKER_OPEN_MS, type Breaker } from './breaker.ts';
import { redisKey, type RedisKeyKind } from './keys.ts';
import { ADD_TURN, PUT_STATE, STATE, TURNS } from './working-scripts.ts';

export interface RedisWorkingMemoryParts {
  readonly redis: Redis;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly prefix: string;
  readonly limits: WorkingLimits;
  /** A read was answered, or a note not taken, without Redis. */
  readonly onShortcut?: () => void;
}

/**
 * One script or transaction each, under the breaker: a frozen Redis costs the first call 150 ms and the others nothing. Lives are told by the
 * caller's clock; Redis's own expiry takes away what nobody asks for any more.
 */
export function redisWorkingMemory(parts: RedisWorkingMemoryParts): WorkingMemory {
  const { redis, breaker, clock, prefix, limits } = parts;
  const { ttlMs, dropped: ring, returned } = limits;
  const keyOf = (kind: RedisKeyKind, { tenant, namespace, owner, session_id: session }: SessionKey): string =>
    redisKey(prefix, kind, tenant, namespace, owner, session);

  const run = (script: string, session: SessionKey, ...args: readonly (string | number)[]): Promise<unknown> =>
    redis.eval(script, 2, keyOf('turns', session), keyOf('state', session), clock(), ttlMs, ...args);

  const write = <T>(call: () => Promise<T>): Promise<T> =>
    breaker.run(call, () => {
      throw new HindsightError('ERR_WORKING_UNAVAILABLE', { retryAfterSeconds: BREAKER_OPEN_MS / 1_000 });
    });
  const orWithout = <T>(call: () => Promise<T>, without: T): Promise<T> =>
    breaker.run(call, () => {
      parts.onShortcut?.();
      return without;
    });
  const read = <T>(call: () => Promise<readonly T[]>): Promise<Unscreened<readonly T[]> | undefined> =>
    orWithout<Unscreened<readonly T[]> | undefined>(async () => unscreened(await call()), undefined);

  return {
    async addTurn(turn, role) {
      const record = openAdmitted(turn);
      const kept: KeptTurn = { ...markOf(record), content: record.content, role };
      return Number(await write(() => run(ADD_TURN, sessionOf(record), limits.turns, JSON.stringify(kept))));
    },
    turns: (of) => read(async () => parsed<KeptTurn>(await run(TURNS, keyIn(of)))),

    async putState(slots, mode, remove) {
      const record = openAdmitted(slots);
      const mark = markOf(record);
      const pairs = Object.entries(record.metadata ?? {}).flatMap(([name, value]) => {
        const kept: KeptSlot = { ...mark, name, value };
        return [name, `${slotBytes(name, value)}|${JSON.stringify(kept)}`];
      });
      const args = [mode, limits.stateBytes, limits.slots, remove.length, ...remove, ...pairs];
      return (await write(() => run(PUT_STATE, sessionOf(record), ...args))) === 1 ? 'kept' : 'too_large';
    },
    state: (of) =>
      read(async () => {
        const values = (await run(STATE, keyIn(of))) as string[];
        return parsed<KeptSlot>(values.map((value) => value.slice(value.indexOf('|') + 1))).sort((a, b) => (a.name < b.name ? -1 : 1));
      }),

    async noteDropped(text, reason) {
      if (ring.entries === 0) return;
      const record = openAdmitted(text);
      const kept = droppedOf(record, reason, ring.chars);
      const key = keyOf('dropped', sessionOf(record));
      const note = redis
        .multi()
        .rpush(key, `${clock()}|${JSON.stringify(kept)}`)
        .ltrim(key, -ring.entries, -1)
        .pexpire(key, ring.ttlMs);
      await orWithout(() => succeeded(note.exec()), undefined);
    },
    dropped: (of) =>
      read(async () => {
        const since = clock() - ring.ttlMs;
        const kept = (await redis.lrange(keyOf('dropped', keyIn(of)), 0, -1)).map((line) => [line, line.indexOf('|')] as const);
        return parsed<DroppedText>(kept.flatMap(([line, bar]) => (Number(line.slice(0, bar)) > since ? [line.slice(bar + 1)] : [])));
      }),

    async noteReturned(session, fingerprints) {
      if (fingerprints.length === 0 || returned.fingerprints === 0) return;
      const now = clock();
      const key = keyOf('returned', session);
      const note = redis
        .multi()
        .zadd(key, ...fingerprints.flatMap((one) => [now, one]))
        .zremrangebyscore(key, '-inf', now - returned.ttlMs)
        .zremrangebyrank(key, 0, -1 - returned.fingerprints)
        .pexpire(key, returned.ttlMs);
      await orWithout(() => succeeded(note.exec()), undefined);
    },
    wasReturned: (session, fingerprint) =>
      orWithout(async () => {
        const at = await redis.zscore(keyOf('returned', session), fingerprint);
        return at !== null && Number(at) > clock() - returned.ttlMs;
      }, false),
  };
}

function keyIn(of: Scoped<SessionQuery>): SessionKey {
  const { tenant, principal } = of.scope;
  return { tenant, owner: principal.owner, ...openScoped(of) };
}

function parsed<T>(lines: unknown): T[] {
  return (lines as readonly string[]).map((line) => JSON.parse(line) as T);
}

/** A transaction whose commands all went well; it resolves with their errors otherwise. */
async function succeeded(transaction: Promise<[error: Error | null, result: unknown][] | null>): Promise<undefined> {
  for (const [error] of (await transaction) ?? []) if (error !== null) throw error;
  return undefined;
}
