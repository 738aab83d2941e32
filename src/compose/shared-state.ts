/** State that replicas share: rate limits, dirty marks, used confirmations, working memory, in Redis where REDIS_URL is set, else in this process. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import type { DirtyMarks, WorkingMemory } from '../domain/ports.ts';
import type { WorkingLimits } from '../domain/working.ts';
import { BENCH_RATE_LIMITS, createRateLimiter, rateLimitsSchema, type RateLimiter } from '../gate/rate-limiter.ts';
import type { RevocationSource } from '../gate/revocations.ts';
import type { UsedStates } from '../mcp/used-states.ts';
import { processWorkingMemory } from '../memory/working/in-process.ts';
import { loadPolicy } from '../policy.ts';
import { createBreaker } from '../redis/breaker.ts';
import { connectRedis, redisSettled } from '../redis/client.ts';
import { processDirtyMarks, redisDirtyMarks } from '../redis/dirty-marks.ts';
import { redisRevocations } from '../redis/revocations.ts';
import { redisUsedStates } from '../redis/used-states.ts';
import { redisWorkingMemory } from '../redis/working-memory.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface SharedState {
  readonly limiter: RateLimiter;
  readonly dirty: DirtyMarks;
  readonly working: WorkingMemory;
  /** Absent without Redis. */
  readonly revocations?: RevocationSource;
  /** Absent without Redis. */
  readonly usedStates?: UsedStates;
  /** off: none is configured; away: this process does without it for now. */
  redis(): 'off' | 'ok' | 'away';
  close(): void;
}

interface SharedParts {
  readonly policiesDir: string;
  readonly workingLimits: WorkingLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Starts without Redis too: limits are then counted in this process, and every search refreshes first. */
export async function openSharedState(
  config: Config,
  { policiesDir, workingLimits, clock, logger, metrics }: SharedParts,
): Promise<SharedState> {
  const limits = config.rateLimitProfile === 'bench' ? BENCH_RATE_LIMITS : loadPolicy(join(policiesDir, 'limits.yaml'), rateLimitsSchema);
  const onLimited = metrics.rateLimited;
  if (config.redisUrl === undefined)
    return {
      limiter: createRateLimiter({ limits, onLimited }),
      dirty: processDirtyMarks(),
      working: processWorkingMemory({ clock, limits: workingLimits }),
      redis: () => 'off',
      close: () => undefined,
    };
  const breaker = createBreaker({ clock, onOpen: (err) => logger.warn({ err }, 'redis is away: its calls are suspended for 5 s') });
  const client = connectRedis(config.redisUrl, breaker.trip);
  await redisSettled(client);
  const prefix = config.elasticsearch.indexPrefix;
  return {
    limiter: createRateLimiter({
      limits,
      redis: { client, breaker, prefix },
      onLimited,
      onShortcut: () => metrics.shortcutTaken('limits_without_redis'),
    }),
    dirty: redisDirtyMarks({
      redis: client,
      breaker,
      clock,
      prefix,
      onShortcut: () => metrics.shortcutTaken('dirty_marks_without_redis'),
    }),
    working: redisWorkingMemory({
      redis: client,
      breaker,
      clock,
      prefix,
      limits: workingLimits,
      onShortcut: () => metrics.shortcutTaken('session_without_redis'),
    }),
    revocations: redisRevocations({ redis: client, breaker, prefix }),
    usedStates: redisUsedStates({ redis: client, breaker, clock, prefix }),
    redis: () => (client.status === 'ready' && !breaker.isOpen ? 'ok' : 'away'),
    close: () => client.disconnect(),
  };
}
