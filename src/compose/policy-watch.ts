/** Looks whether the guard's policies on disk are still those that decide; log and metrics tell a damaged change, and one that waits for a start. */
import { join } from 'node:path';
import { HindsightError } from '../errors.ts';
import { anomalySchema } from '../guard/anomaly/policy.ts';
import { trustPolicySchema } from '../guard/policy.ts';
import { loadSecretFinder } from '../guard/secrets/policy.ts';
import { loadGuardPolicy } from '../guard/text/policy.ts';
import { loadPolicy, revisionOf } from '../policy.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** 200 KB of YAML are hashed in a millisecond. */
const LOOK_EVERY_MS = 5_000;

/** Revision of what the guard judges by alone: a changed ranking weight is no reason to judge every memory again. */
export function guardRevision(policiesDir: string): string {
  return revisionOf(policiesDir, (path) => path === 'trust.yaml' || path.startsWith('guard/'));
}

/**
 * The policies that were read at start, `revision`, go on deciding whatever becomes of their files (guard.md, G17); each change of the
 * files is told once. Looks every five seconds until it is closed.
 */
export function watchPolicies(
  policiesDir: string,
  revision: string,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Pick<Metrics, 'policies'> },
): { close(): void } {
  let seen: string | undefined = revision;
  metrics.policies('current');
  const look = (): void => {
    const now = attempt(() => guardRevision(policiesDir));
    if (now.value === seen) return;
    seen = now.value;
    if (seen === revision) {
      metrics.policies('current');
      return logger.info({ revision }, 'the guard’s policies on disk are those that decide');
    }
    const { fault } = now.fault === undefined ? attempt(() => load(policiesDir)) : now;
    metrics.policies(fault === undefined ? 'waiting' : 'faulty');
    if (fault === undefined) logger.warn({ revision: seen }, 'the guard’s policies have changed on disk; they hold from the next start');
    else logger.error({ fault }, 'the guard’s policies on disk are damaged; the last good ones decide, the next start would fail');
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

/** Throws what the next start would. */
function load(policiesDir: string): void {
  loadPolicy(join(policiesDir, 'trust.yaml'), trustPolicySchema);
  loadPolicy(join(policiesDir, 'guard', 'anomaly.yaml'), anomalySchema);
  loadSecretFinder(join(policiesDir, 'guard'));
  loadGuardPolicy(join(policiesDir, 'guard'));
}

function attempt<T>(work: () => T): { readonly value?: T; readonly fault?: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { fault: error instanceof HindsightError ? error.message : 'cannot be read' };
  }
}
