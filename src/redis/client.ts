/** The Redis connection: options under which a call fails quickly instead of waiting; made by compose where REDIS_URL is set. */
import { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 1_000;
/** For what goes around the breaker, which has a shorter time-out of its own. */
const COMMAND_TIMEOUT_MS = 250;
const RECONNECT_MAX_MS = 1_000;

/**
 * A connection that is established in the background and for ever tried again. Commands sent while it is down fail at once
 * (with the default options of ioredis they wait: no answer in 3 s, measured). `onDown` is told of every failed attempt and
 * of a lost connection: pass the breaker's trip.
 */
export function connectRedis(url: string, onDown: (error: Error) => void): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(attempt * 50, RECONNECT_MAX_MS),
  });
  redis.on('error', onDown);
  // a Redis that restarts within one retry closes without an error, and what it held is gone all the same
  redis.on('close', () => onDown(new Error('the connection to Redis was closed')));
  return redis;
}

/** Waits until the first attempt to connect has ended, well or not: the service starts without Redis too. */
export function redisSettled(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    if (redis.status === 'ready') resolve();
    for (const event of ['ready', 'error', 'close', 'end'] as const) redis.once(event, () => resolve());
  });
}
