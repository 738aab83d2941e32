/** The anomaly stage of admission: floods on one subject, crowds of copies and trigger suffixes among what nobody stated themselves; it flags and never holds back. */
import type { Clock } from '../../domain/clock.ts';
import { TIER } from '../../domain/trust.ts';
import { normaliseForFingerprint } from '../../text/clean.ts';
import type { AdmissionContext, AdmissionStage, MemoryDraft } from '../admission.ts';
import { overlap, shinglesOf, wordsOf } from '../screening/near-duplicates.ts';
import type { AnomalyPolicy } from './policy.ts';
import { hasTriggerSuffix } from './trigger-suffix.ts';

/** Subjects and origins remembered; the least recently written goes first. */
const KEYS_KEPT = 5_000;
/** Beginning of a text that is compared. */
const COMPARED_CHARS = 2_000;

interface Seen {
  readonly atMs: number;
  readonly shingles: ReadonlySet<string>;
}

/**
 * What was written lately is remembered in this process: with several behind a balancer a flood has to be as many times larger, which still
 * bounds it, and no write waits for one more search. An update of a memory is no new record.
 */
export function anomalyStage(policy: AnomalyPolicy, clock: Clock): AdmissionStage {
  const windowMs = policy.window_minutes * 60_000;
  const bySubject = new Map<string, readonly number[]>();
  const byOrigin = new Map<string, readonly Seen[]>();

  const isBurst = (draft: MemoryDraft, by: string, nowMs: number): boolean => {
    if (draft.subject === undefined) return false;
    const key = JSON.stringify([by, draft.namespace, normaliseForFingerprint(draft.subject)]);
    const recent = (bySubject.get(key) ?? []).filter((atMs) => atMs > nowMs - windowMs);
    // one more than the limit tells all
    keep(bySubject, key, [...recent, nowMs].slice(-policy.burst.records - 1));
    return recent.length >= policy.burst.records;
  };

  const isCopy = (draft: MemoryDraft, by: string, origin: string, nowMs: number): boolean => {
    const { copies, overlap: least, compared } = policy.near_duplicates;
    const key = JSON.stringify([by, draft.namespace, origin]);
    const recent = (byOrigin.get(key) ?? []).filter(({ atMs }) => atMs > nowMs - windowMs);
    const shingles = shinglesOf(wordsOf(draft.content.slice(0, COMPARED_CHARS)));
    keep(byOrigin, key, [...recent, { atMs: nowMs, shingles }].slice(-compared));
    return recent.filter((seen) => overlap(seen.shingles, shingles) >= least).length >= copies;
  };

  return {
    name: 'anomaly',
    judge: (draft: MemoryDraft, { principal, source, previous }: AdmissionContext, { tier }) => {
      if (tier > TIER[policy.max_tier]) return {};
      const nowMs = clock();
      const by = JSON.stringify([draft.tenant, principal.owner]);
      const isNew = previous === undefined;
      const ruleIds = [
        ...(isNew && isBurst(draft, by, nowMs) ? ['anomaly-burst'] : []),
        ...(isNew && isCopy(draft, by, source?.type ?? principal.actor, nowMs) ? ['anomaly-copies'] : []),
        ...(hasTriggerSuffix(draft.content, policy.trigger_suffix.words) ? ['anomaly-suffix'] : []),
      ];
      return ruleIds.length === 0 ? {} : { verdict: 'flag', ruleIds };
    },
  };
}

/** The order of a Map is the order of use. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > KEYS_KEPT ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}
