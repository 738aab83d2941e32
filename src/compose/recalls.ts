/** The recall trace of this process: its writer over the engine and the tenants' keys, with what is logged and counted of it. */
import type { RecallStore } from '../domain/recall.ts';
import type { TenantKeys } from '../domain/ports.ts';
import { createRecallTrace, type ClosableRecallTrace } from '../memory/recall/trace.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface RecallParts {
  readonly store: RecallStore;
  readonly keys: TenantKeys;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** False: nothing is recorded, what was recorded can be read. */
  readonly on: boolean;
}

export function openRecalls({ store, keys, logger, metrics, on }: RecallParts): ClosableRecallTrace {
  let dropped = 0;
  return createRecallTrace({
    store,
    keys,
    on,
    after: (ms, run) => {
      const timer = setTimeout(run, ms).unref();
      return () => clearTimeout(timer);
    },
    onState: (up, err) => {
      if (!up) return logger.warn({ err }, 'the recall trace cannot be written; recalls go on without it');
      logger.info({ dropped }, 'the recall trace is written again');
      dropped = 0;
    },
    onDropped: (count) => {
      if (dropped === 0) logger.warn({ count }, 'recalls are left out of the recall trace');
      dropped += count;
      metrics.recallsDropped(count);
    },
  });
}
