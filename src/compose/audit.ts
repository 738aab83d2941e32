/** The audit log of this process, put together: trail, hook for the calls, the minute's anchor, and what operations may read of it. */
import { randomBytes } from 'node:crypto';
import type { AuditLog } from '../domain/audit.ts';
import type { Clock } from '../domain/clock.ts';
import type { StoreClient } from '../elastic/client.ts';
import type { Keys } from '../gate/keys.ts';
import type { FindSecrets } from '../guard/secrets/detect.ts';
import { maskFields } from '../guard/secrets/mask-fields.ts';
import { createAudit, type Audit } from '../operations/audit.ts';
import { createAuditLog } from '../memory/audit-log.ts';
import { createAuditStore } from '../stores/audit.ts';
import { anchorKey } from '../telemetry/audit/anchor-key.ts';
import { openTrail } from '../telemetry/audit/trail.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface AuditParts {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly policyRevision: string;
  readonly version: string;
  readonly findSecrets: FindSecrets;
  /** False: nothing is recorded, what was recorded can be read. */
  readonly on: boolean;
}

export interface OpenAudit {
  readonly log: AuditLog;
  /** Undefined while it is switched off. */
  readonly hook: Audit | undefined;
  /** Signs off, when everything else has come to its end. */
  close(): Promise<void>;
}

const ANCHOR_EVERY_MS = 60_000;
const PROCESS_ID_BYTES = 8;

/** Begins this process's chains. Errors: ERR_STORE_*. */
export async function openAudit(parts: AuditParts): Promise<OpenAudit> {
  const { client, prefix, keys, clock, logger, metrics, policyRevision, version, findSecrets, on } = parts;
  const store = createAuditStore({ client, prefix });
  const key = anchorKey(keys.deriveKey('audit-anchor'), keys.previousAnchors);
  const logParts = { store, key, cursorKey: keys.deriveKey('cursor') };
  if (!on) {
    logger.warn({}, 'the audit log is switched off: nobody can answer later for what is done now');
    return { log: createAuditLog(logParts), hook: undefined, close: async () => undefined };
  }
  metrics.auditUp(true);
  const trail = await openTrail({
    store,
    key,
    clock,
    processId: randomBytes(PROCESS_ID_BYTES).toString('hex'),
    policyRevision,
    about: { pid: process.pid, version },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onState: (up, err) => {
      metrics.auditUp(up);
      if (up) logger.info({}, 'the audit log is written again');
      else logger.error({ err }, 'the audit log cannot be written: changes are refused until it can');
    },
    onDropped: metrics.auditDropped,
  });
  const hook = createAudit({
    trail,
    hashing: { key: keys.deriveKey('audit'), mask: (texts) => maskFields(findSecrets, texts, 'personal').value },
  });
  const timer = setInterval(() => hook.minute(), ANCHOR_EVERY_MS).unref();
  return {
    log: createAuditLog({ ...logParts, flush: () => trail.flush() }),
    hook,
    close: async () => {
      clearInterval(timer);
      hook.minute(); // refusals that were only counted since the last one
      await trail.close();
    },
  };
}
