/** Read-your-writes marks: which tenants have writes that no search has made visible; in the process, or in Redis for several replicas. */
import type { Redis } from 'ioredis';
import type { Clock } from '../domain/clock.ts';
import type { DirtyMarks } from '../domain/ports.ts';
import type { Breaker } from './breaker.ts';
import { redisKey } from './keys.ts';

/** Long past refresh_interval (1 s), after which everything is visible without our help. */
const MARK_TTL_SECONDS = 60;
/** After an outage other replicas may hold marks that never reached Redis; after this time a refresh has made them moot. */
const DOUBT_AFTER_OUTAGE_MS = 2_000;

/** For one replica. */
export function processDirtyMarks(): DirtyMarks {
  const marked = new Set<string>();
  return {
    async mark(tenant) {
      marked.add(tenant);
    },
    async take(tenant) {
      return marked.delete(tenant);
    },
  };
}

/**
 * For several replicas. DEL answers whether the mark was there, so one of several takers gets it. While Redis is away, and
 * for 2 s after, every take says true: a refresh too many costs 3-7 ms (measured), one too few loses a read of an own write.
 */
export function redisDirtyMarks(parts: {
  readonly redis: Redis;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly prefix: string;
  /** A take was answered without Redis. */
  readonly onShortcut?: () => void;
}): DirtyMarks {
  const { redis, breaker, clock } = parts;
  const keyOf = (tenant: string): string => redisKey(parts.prefix, 'dirty', tenant);
  return {
    async mark(tenant) {
      // a mark that cannot be set is covered by the doubt of this process; that of other replicas begins with their own failure
      await breaker.run(
        async () => void (await redis.set(keyOf(tenant), '1', 'EX', MARK_TTL_SECONDS)),
        () => undefined,
      );
    },
    async take(tenant) {
      const found = await breaker.run(
        async () => (await redis.del(keyOf(tenant))) === 1,
        () => {
          parts.onShortcut?.();
          return true;
        },
      );
      return found || clock() < breaker.openUntilMs + DOUBT_AFTER_OUTAGE_MS;
    },
  };
}
