/** The guard's background work, made from its parts: rescan after a change of policy, nightly sample, sweep of pending writes; compose/jobs runs it. */
import { setTimeout as delay } from 'node:timers/promises';
import { createPendingSweep, PENDING_SWEEP_MS } from '../jobs/pending-sweep.ts';
import { createRescanJudge, type RescanFinding, type RescanJudge } from '../jobs/rescan-judge.ts';
import { createRescanSample, RESCAN_SAMPLE_LOOK_MS } from '../jobs/rescan-sample.ts';
import { createRescanJob, RESCAN_LOOK_MS } from '../jobs/rescan.ts';
import type { Job } from '../jobs/worker.ts';
import type { TextJudge } from '../guard/screening/rescan.ts';
import type { MemoryDeps } from '../memory/deps.ts';
import { serviceReads } from '../memory/service-reads.ts';
import { createSetAside } from '../memory/set-aside.ts';
import type { TurnDeps } from '../memory/turn-context.ts';
import type { TurnLinks } from '../memory/turn-links.ts';
import type { StoreClient } from '../elastic/client.ts';
import type { Audit } from '../operations/audit.ts';
import { createRescanMarks } from '../stores/rescan-marks.ts';
import { createExpiredPending } from '../stores/rescan-pending.ts';
import { createRescanQueue } from '../stores/rescan-queue.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface GuardJobParts extends TurnDeps, Pick<MemoryDeps, 'slots' | 'relations'> {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly links: TurnLinks;
  /** What the text rules say of a stored record. */
  readonly textJudge: TextJudge;
  readonly audit: Pick<Audit, 'job'> | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Jobs with the pause between their looks, ms. */
export function guardJobs(parts: GuardJobParts): readonly { readonly job: Job; readonly pollMs: number }[] {
  const { client, prefix, index, guard, clock, links, textJudge, audit, logger, metrics } = parts;
  const reads = serviceReads(parts);
  const setAside = createSetAside(parts, links);
  const queue = createRescanQueue({ client, prefix, clock });
  const marks = createRescanMarks({ client, prefix, clock });
  const { policyRevision } = guard;

  const judgeFor = (by: 'rescan' | 'nightly sample'): RescanJudge =>
    createRescanJudge({
      load: (refs) => reads.loadAll(refs),
      judge: textJudge,
      policyRevision,
      setAside,
      onFinding: ({ tenant, memoryId, verdict, ruleIds, action }: RescanFinding) => {
        // without the reading it was found in: `rule@decoded`
        for (const rule of new Set(ruleIds.map((id) => id.split('@')[0] ?? id))) metrics.rescanFound(rule, action);
        const facts = { tenant, memory_id: memoryId, verdict, rule_ids: ruleIds, policy_revision: policyRevision, by };
        audit?.job('rescan', { tenant, memory_ids: [memoryId], verdict: [verdict], rule_ids: ruleIds, detail: { action, by } });
        logger.warn(facts, action === 'quarantined' ? 'a stored memory was quarantined' : 'a confirmed memory breaks a rule; it stays');
      },
    });

  const rescan = createRescanJob({
    queue,
    marks,
    judge: judgeFor('rescan'),
    policyRevision,
    clock,
    rest: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
    onUnchecked: metrics.rescanUnchecked,
    onProgress: (tenant, { checked, held, reported, done }) =>
      logger[done ? 'info' : 'debug']({ tenant, checked, held, reported, done }, 'memories judged again after a change of policy'),
  });
  const sample = createRescanSample({
    queue,
    marks,
    judge: judgeFor('nightly sample'),
    clock,
    onReport: (tenant, night, { checked, held, reported, rules }) => {
      metrics.rescanSampled(checked);
      logger[held + reported > 0 ? 'warn' : 'info']({ tenant, night, checked, held, reported, rules }, 'nightly sample judged');
    },
  });
  const sweep = createPendingSweep({
    pending: createExpiredPending({ client, prefix }),
    index,
    setAside,
    clock,
    onExpired: (tenant, memoryId) => {
      metrics.pendingExpired();
      audit?.job('pending_sweep', { tenant, memory_ids: [memoryId], detail: { action: 'rejected' } });
      logger.info({ tenant, memory_id: memoryId }, 'a pending write was rejected: nobody decided on it in time');
    },
  });
  return [
    { job: rescan, pollMs: RESCAN_LOOK_MS },
    { job: sample, pollMs: RESCAN_SAMPLE_LOOK_MS },
    { job: sweep, pollMs: PENDING_SWEEP_MS },
  ];
}
