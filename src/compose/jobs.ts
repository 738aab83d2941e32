/** The background work of this process: the embed job, nudged by writes. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import type { StoreClient } from '../elastic/client.ts';
import type { Guard } from '../guard/guard.ts';
import { createEmbedJob } from '../jobs/embed.ts';
import { createWorker } from '../jobs/worker.ts';
import type { EmbeddingProvider } from '../providers/embedding/provider.ts';
import { createEmbedQueue } from '../stores/embed-queue.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface JobParts {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly index: MemoryIndex;
  readonly guard: Guard;
  readonly embedder: EmbeddingProvider;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Jobs {
  /** A tenant has records whose vectors are due. */
  nudge(tenant: string): void;
  /** Lets the running batch end. */
  stop(): Promise<void>;
}

export function startJobs({ client, prefix, index, guard, embedder, clock, logger, metrics }: JobParts): Jobs {
  const embed = createEmbedJob({
    index,
    queue: createEmbedQueue({ client, prefix, clock }),
    guard,
    embedder,
    clock,
    by: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    onDepth: metrics.embedQueue,
    onFailed: (reason, err) => {
      metrics.embedFailed(reason);
      logger.warn({ reason, err }, 'embedding failed');
    },
    onDead: (tenant, memoryId) =>
      logger.error({ tenant, memory_id: memoryId }, 'record given up by the embed job; it stays findable by its words'),
  });
  const worker = createWorker({
    job: embed,
    clock,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    onError: (job, err, pauseMs) => logger.warn({ job, err, pause_ms: pauseMs }, 'job paused'),
  });
  worker.start();
  return { nudge: (tenant) => worker.nudge(tenant), stop: () => worker.stop() };
}
