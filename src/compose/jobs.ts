/** The background work of this process: the embed job, nudged by writes, the reembed job that feeds it, the sweep of expired Idempotency-Keys, the repair of turn links and the guard's own jobs. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { DirtyMarks, MemoryIndex, SlotStore } from '../domain/ports.ts';
import type { RecallStore } from '../domain/recall.ts';
import type { StoreClient } from '../elastic/client.ts';
import type { Guard } from '../guard/guard.ts';
import type { TextJudge } from '../guard/screening/rescan.ts';
import { createEmbedJob } from '../jobs/embed.ts';
import { createIdempotencySweep, IDEMPOTENCY_SWEEP_MS } from '../jobs/idempotency-sweep.ts';
import { createRecallSweep, RECALL_SWEEP_MS } from '../jobs/recall-sweep.ts';
import { createReembedJob } from '../jobs/reembed.ts';
import { createSlotRepairJob, SLOT_REPAIR_MS } from '../jobs/slot-repair.ts';
import { createTurnRepair, TURN_REPAIR_MS } from '../jobs/turn-repair.ts';
import { createWorker, type Job, type Worker } from '../jobs/worker.ts';
import { createMeetNearest } from '../memory/conflicts/meet-nearest.ts';
import type { RelationPolicy } from '../memory/conflicts/relation-policy.ts';
import { createSlotRepair } from '../memory/conflicts/repair.ts';
import { createTurnLinks } from '../memory/turn-links.ts';
import type { Audit } from '../operations/audit.ts';
import type { EmbeddingProvider } from '../providers/embedding/provider.ts';
import { createDetachedTurns } from '../stores/detached-turns.ts';
import { createEmbedQueue } from '../stores/embed-queue.ts';
import { createIdempotencyStore } from '../stores/idempotency.ts';
import { createReembedQueue } from '../stores/reembed-queue.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { guardJobs } from './guard-jobs.ts';

export interface JobParts {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly index: MemoryIndex;
  readonly guard: Guard;
  readonly textJudge: TextJudge;
  readonly dirty: DirtyMarks;
  readonly embedder: EmbeddingProvider;
  readonly slots: SlotStore;
  /** What duplicates and conflicts are told by. */
  readonly relations: RelationPolicy;
  readonly recalls: Pick<RecallStore, 'sweep'>;
  readonly clock: Clock;
  /** Told of what jobs decide. */
  readonly audit: Pick<Audit, 'job'> | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Jobs {
  /** A tenant has records whose vectors are due. */
  nudge(tenant: string, waited?: boolean): void;
  /** Breaks a running embedding call off, gives its records back and begins nothing new. */
  stop(): Promise<void>;
}

export function startJobs(parts: JobParts): Jobs {
  const { client, prefix, index, guard, dirty, embedder, clock, logger, metrics } = parts;
  const store = { client, prefix, clock, spaces: () => embedder.spaces.map((space) => space.name) };
  const queue = createEmbedQueue(store);
  const links = createTurnLinks({ index, guard, dirty, embedder, clock });
  const embed = createEmbedJob({
    index,
    queue,
    guard,
    embedder,
    dirty,
    clock,
    meetNearest: createMeetNearest(parts, links, (does) => logger.debug({ does }, 'memories of nearly the same meaning met')),
    onUnmet: (err) => logger.warn({ err }, 'memories of nearly the same meaning could not be compared'),
    by: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    onDepth: metrics.embedQueue,
    onFailed: (reason, err) => {
      metrics.embedFailed(reason);
      logger.warn({ reason, err }, 'embedding failed');
    },
    onDead: (tenant, memoryId) =>
      logger.error({ tenant, memory_id: memoryId }, 'record given up by the embed job; it stays findable by its words, and is tried daily'),
  });
  const started = (job: Job, pollMs?: number): Worker => {
    const worker = createWorker({
      job,
      clock,
      sleep: (ms, signal) => delay(ms, undefined, { signal }),
      ...(pollMs === undefined ? {} : { pollMs }),
      onError: (name, err, pauseMs) => logger.warn({ job: name, err, pause_ms: pauseMs }, 'job paused'),
    });
    worker.start();
    return worker;
  };
  const embedding = started(embed);
  const reembed = createReembedJob({
    index,
    candidates: createReembedQueue(store),
    queue,
    embedder,
    clock,
    nudge: (tenant) => embedding.nudge(tenant),
    onUnchecked: metrics.reembedUnchecked,
    onProgress: (tenant, { checked, marked, done }) =>
      logger[marked > 0 ? 'info' : 'debug']({ tenant, checked, marked, done }, 'records looked at for missing vectors'),
  });
  const reembedding = started(reembed);
  const sweeping = started(createIdempotencySweep(createIdempotencyStore({ client, prefix, clock })), IDEMPOTENCY_SWEEP_MS);
  const forgetting = started(createRecallSweep(parts.recalls), RECALL_SWEEP_MS);
  const repairing = started(
    createTurnRepair({
      turns: createDetachedTurns(store),
      repair: (turn) => links.repair(turn),
      onRepaired: (tenant, count) => logger.info({ tenant, count }, 'turns linked again that a crash had cut loose'),
    }),
    TURN_REPAIR_MS,
  );
  const slotRepairing = started(
    createSlotRepairJob({
      slots: parts.slots,
      repair: createSlotRepair({ index, guard, dirty, embedder, clock, slots: parts.slots }, links),
      onRepaired: (tenant, count) => logger.info({ tenant, count }, 'slots repaired that a crash had left half moved'),
    }),
    SLOT_REPAIR_MS,
  );
  const guarding = guardJobs({ ...parts, links }).map(({ job, pollMs }) => started(job, pollMs));
  return {
    nudge: (tenant, waited) => embedding.nudge(tenant, waited),
    stop: async () =>
      void (await Promise.all(
        [embedding, reembedding, repairing, slotRepairing, sweeping, forgetting, ...guarding].map((worker) => worker.stop()),
      )),
  };
}
