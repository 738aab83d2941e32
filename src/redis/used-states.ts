/** Confirmations that were used, in Redis for several replicas: whoever sets the key first has the one use (mcp/used-states.ts is the port). */
import type { Redis } from 'ioredis';
import type { Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import type { Breaker } from './breaker.ts';
import { redisKey } from './keys.ts';

/** A replica whose clock is behind believes a state for longer; its key stays as long. */
const CLOCK_DOUBT_MS = 60_000;

/**
 * One `SET NX PX` each. Throws ERR_GUARD_UNAVAILABLE while Redis is away: what another replica may have used is not used again. An answer
 * that was lost on its way may have taken the id, so that the person is asked once more.
 */
export function redisUsedStates(parts: {
  readonly redis: Redis;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly prefix: string;
}): {
  take(id: string, untilMs: number): Promise<boolean>;
} {
  const { redis, breaker, clock, prefix } = parts;
  return {
    take: (id, untilMs) =>
      breaker.run(
        async () =>
          (await redis.set(redisKey(prefix, 'used', id), '1', 'PX', Math.max(0, Math.ceil(untilMs - clock())) + CLOCK_DOUBT_MS, 'NX')) ===
          'OK',
        () => {
          throw new HindsightError('ERR_GUARD_UNAVAILABLE');
        },
      ),
  };
}
