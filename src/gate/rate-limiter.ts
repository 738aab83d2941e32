/** Rate limits: points in a fixed window for each principal and tenant, and a coarse one for each address before the token is read. */
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { z } from 'zod';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import type { Breaker } from '../redis/breaker.ts';
import { redisKey } from '../redis/keys.ts';
import { addressKey } from './rate-limiter-address.ts';

/** A thousand requests a second: many callers share a proxy's address, and a refused token costs 0.2 ms (measured). */
const ADDRESS_POINTS_PER_SECOND = 1_000;
const UNLIMITED = 1_000_000_000;
/** Every request, before its body is read. */
const HTTP = 'http';
/** Points that may be taken from all buckets at once; what a dearer call would lose by a refusal is worth the round trips. */
const SMALL_PRICE = 10;
/** All operations of one caller together. */
const TOTAL = 'total';
/** Long enough for any turn of an agent. */
const TURN_SECONDS = 600;

const points = z.int().min(1).max(UNLIMITED);
const bucketSchema = z.strictObject({ principal: points, tenant: points });

/** policies/limits.yaml. */
export const rateLimitsSchema = z
  .strictObject({
    version: z.literal(1),
    window_seconds: z.int().min(1).max(3_600),
    /** Points of one address in a window, before the token is read. */
    address: points.optional(),
    buckets: z
      .record(z.string().regex(/^[a-z_]{1,64}$/), bucketSchema)
      .refine((all) => 'http' in all && 'default' in all, 'needs the buckets http and default'),
  })
  .transform((file): RateLimits => ({
    windowSeconds: file.window_seconds,
    addressPoints: file.address ?? file.window_seconds * ADDRESS_POINTS_PER_SECOND,
    buckets: file.buckets,
  }));

export interface RateLimits {
  readonly windowSeconds: number;
  readonly addressPoints: number;
  /** By operation; `default` holds for each operation without its own, counted apart; `total` for all operations together. */
  readonly buckets: Readonly<Record<string, { readonly principal: number; readonly tenant: number }>>;
}

/** For measuring: limits that nobody reaches, counted all the same so that the cost of counting is in the figures. */
export const BENCH_RATE_LIMITS: RateLimits = {
  windowSeconds: 60,
  addressPoints: UNLIMITED,
  buckets: { default: { principal: UNLIMITED, tenant: UNLIMITED }, total: { principal: UNLIMITED, tenant: UNLIMITED } },
};

export interface LimitState {
  /** The bucket: an operation, `http` or `total`. */
  readonly policy: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly windowSeconds: number;
}

export interface RateLimiter {
  /**
   * Takes `cost` points (at least 1) from the principal's bucket of that operation and from that of all operations, then from
   * the tenant's two, and answers the one with least left. Throws ERR_RATE_LIMITED with retryAfterSeconds at the first that is
   * used up: it takes nothing from those after it, so that a principal over its own limit takes nothing from its tenant, and a
   * refused tool nothing from the others.
   */
  consume(principal: Principal, operation: string, cost: number): Promise<LimitState>;
  /** One call of the operation in this principal's turn; ERR_TURN_SEARCHED for another one within ten minutes. The function gives it back. */
  oncePerTurn(principal: Principal, operation: string, turnId: string): Promise<() => Promise<void>>;
  /** One point of the address (IPv6: its /64). Counted in this process alone: it must cost less than what it protects. */
  coarse(address: string): Promise<void>;
}

export interface RateLimiterParts {
  readonly limits: RateLimits;
  /** Shared by all replicas; without it, or while it is away, each process counts for itself. */
  readonly redis?: { readonly client: Redis; readonly breaker: Breaker; readonly prefix: string } | undefined;
  readonly onLimited?: (bucket: 'principal' | 'tenant' | 'address') => void;
  /** A call was counted in the process although Redis is configured. */
  readonly onShortcut?: () => void;
}

/** A caller's place in one bucket. */
interface Place {
  readonly from: Bucket;
  readonly kind: 'principal' | 'tenant';
  readonly policy: string;
  readonly key: string;
}

interface Bucket {
  readonly limit: number;
  readonly memory: RateLimiterAbstract;
  readonly shared: RateLimiterAbstract | undefined;
}

export function createRateLimiter(parts: RateLimiterParts): RateLimiter {
  const { limits, redis } = parts;
  const { windowSeconds } = limits;
  const bucket = (limit: number): Bucket => {
    const options = { keyPrefix: '', points: limit, duration: windowSeconds };
    return {
      limit,
      memory: new RateLimiterMemory(options),
      shared:
        redis &&
        new RateLimiterRedis({
          ...options,
          storeClient: redis.client,
          rejectIfRedisNotReady: true,
          inMemoryBlockOnConsumed: limit, // a flood over the limit does not reach Redis
        }),
    };
  };
  const buckets = new Map(
    Object.entries(limits.buckets).map(([name, row]) => [name, { principal: bucket(row.principal), tenant: bucket(row.tenant) }]),
  );
  const address = new RateLimiterMemory({ keyPrefix: '', points: limits.addressPoints, duration: windowSeconds });

  const turnOptions = { keyPrefix: '', points: 1, duration: TURN_SECONDS };
  const turns: Bucket = {
    limit: 1,
    memory: new RateLimiterMemory(turnOptions),
    shared: redis && new RateLimiterRedis({ ...turnOptions, storeClient: redis.client, rejectIfRedisNotReady: true }),
  };

  /** What the bucket says of `cost` points: in Redis, or in the process without it and while it is away. */
  async function count(from: Bucket, key: string, cost: number): Promise<Settled> {
    const { shared } = from;
    const inProcess = (): Promise<Settled> => settle(from.memory.consume(key, cost));
    if (shared === undefined || redis === undefined) return inProcess();
    return redis.breaker.run(
      () => settle(shared.consume(key, cost)),
      () => {
        parts.onShortcut?.();
        return inProcess();
      },
    );
  }

  function stateOf({ from, kind, policy }: Place, { state, enough }: Settled): LimitState {
    if (!enough) throw refused(kind, resetSecondsOf(state), { policy, limit: from.limit, window_seconds: windowSeconds });
    return { policy, limit: from.limit, remaining: state.remainingPoints, resetSeconds: resetSecondsOf(state), windowSeconds };
  }

  /** One after the other: what comes after a refusal takes nothing. */
  async function inTurn(places: readonly Place[], cost: number): Promise<LimitState[]> {
    const states: LimitState[] = [];
    for (const place of places) states.push(stateOf(place, await count(place.from, place.key, cost)));
    return states;
  }

  /**
   * All in one round trip. Those after the one that refuses lose a few points, of calls that were on their way when it began to: from then
   * on it refuses out of memory, before Redis is asked.
   */
  async function together(places: readonly Place[], cost: number): Promise<LimitState[]> {
    for (const place of places) {
      const blockedMs =
        (place.from.shared as (RateLimiterAbstract & KnowsBlocked) | undefined)?.getInMemoryBlockMsBeforeExpire(place.key) ?? 0;
      if (blockedMs > 0) stateOf(place, { state: new RateLimiterRes(0, blockedMs), enough: false });
    }
    const settled = await Promise.all(places.map(({ from, key }) => count(from, key, cost)));
    return settled.map((one, i) => stateOf(places[i] as Place, one));
  }

  function refused(
    kind: 'principal' | 'tenant' | 'address',
    seconds: number,
    bucket: { readonly policy?: string; readonly limit?: number; readonly window_seconds?: number } = {},
  ): HindsightError {
    parts.onLimited?.(kind);
    return new HindsightError('ERR_RATE_LIMITED', { params: { ...bucket, seconds }, retryAfterSeconds: seconds });
  }

  return {
    async consume(principal, operation, cost) {
      const pair = buckets.get(operation) ?? buckets.get('default');
      if (pair === undefined) throw new TypeError('limits need a default bucket');
      const price = Math.max(1, Math.ceil(cost));
      const prefix = redis?.prefix ?? '';
      const { tenant, owner } = principal;
      const total = operation === HTTP ? undefined : buckets.get(TOTAL);
      const rows = [[operation, pair] as const, ...(total === undefined ? [] : [[TOTAL, total] as const])];
      const places = (['principal', 'tenant'] as const).flatMap((kind) =>
        rows.map(([policy, of]): Place => {
          const who = kind === 'principal' ? [tenant, owner] : [tenant];
          return { from: of[kind], kind, policy, key: redisKey(prefix, 'limit', policy, kind, ...who) };
        }),
      );
      const atOnce = redis?.breaker.isTrusted === true && price <= SMALL_PRICE;
      const states = await (atOnce ? together(places, price) : inTurn(places, price));
      return states.reduce((least, state) => (state.remaining < least.remaining ? state : least));
    },
    async oncePerTurn({ tenant, owner }, operation, turnId) {
      const key = redisKey(redis?.prefix ?? '', 'limit', 'turn', tenant, owner, operation, turnId);
      if (!(await count(turns, key, 1)).enough) throw new HindsightError('ERR_TURN_SEARCHED');
      return async () => {
        const { shared } = turns;
        await turns.memory.delete(key);
        if (shared !== undefined)
          await redis?.breaker.run(
            () => shared.delete(key),
            () => false,
          );
      };
    },
    async coarse(from) {
      const { state, enough } = await settle(address.consume(addressKey(from), 1));
      if (!enough) throw refused('address', resetSecondsOf(state));
    },
  };
}

/** A method that the library's types leave out. */
interface KnowsBlocked {
  getInMemoryBlockMsBeforeExpire(key: string): number;
}

interface Settled {
  readonly state: RateLimiterRes;
  readonly enough: boolean;
}

/** The state of the bucket and whether it had enough; the library throws the state when it had not. Real failures are thrown on. */
async function settle(consumed: Promise<RateLimiterRes>): Promise<Settled> {
  try {
    return { state: await consumed, enough: true };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { state: thrown, enough: false };
    throw thrown;
  }
}

function resetSecondsOf(state: RateLimiterRes): number {
  return Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
}
