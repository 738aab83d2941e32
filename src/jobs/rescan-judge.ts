/** Judges stored records by the rules of today and quarantines what they would not let in; the rescan and the nightly sample share it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SEARCHABLE_STATUSES, type GuardMark, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { RecordRef } from '../domain/ports.ts';
import { TIER, VERDICTS, type Verdict } from '../domain/trust.ts';
import { HindsightError } from '../errors.ts';
import type { TextJudge } from '../guard/screening/rescan.ts';

export interface RescanFinding {
  readonly tenant: string;
  readonly memoryId: string;
  readonly verdict: Verdict;
  readonly ruleIds: readonly string[];
  /** `reported`: a person has confirmed this very text, so that it stays. */
  readonly action: 'quarantined' | 'reported';
}

export interface RescanCounts {
  readonly checked: number;
  readonly held: number;
  readonly reported: number;
  /** Findings by rule. */
  readonly rules: Readonly<Record<string, number>>;
}

export interface RescanJudgeOptions {
  /** Heads as they are this moment, by the service's own look-up: through the guard, each within its owner's view of its namespace. */
  readonly load: (refs: readonly RecordRef[]) => Promise<readonly StoredRecord[]>;
  readonly judge: TextJudge;
  readonly policyRevision: string;
  /** memory/set-aside. */
  readonly setAside: (
    ref: RecordRef,
    decide: (head: MemoryRecord) => { readonly status: 'quarantined'; readonly reason: string; readonly guard: GuardMark } | undefined,
  ) => Promise<'done' | 'left' | 'moved'>;
  readonly onFinding?: (finding: RescanFinding) => void;
}

export type RescanJudge = (refs: readonly RecordRef[], signal: AbortSignal) => Promise<RescanCounts | 'stopped'>;

/** A head that an embed job and a writer move in turns stands still after a few tries. */
const MAX_TRIES = 5;

/**
 * Each record is judged at its own tier: nothing is ever raised. What would now wait, be quarantined or be blocked is quarantined with the
 * rules that say so; blocked text too is kept, for review. 'stopped' when the signal fired before all were judged: nothing is half done,
 * the page is taken again. Errors: what the judge throws, ERR_STORE_*, ERR_VERSION_CONFLICT; a page taken again changes nothing twice.
 */
export function createRescanJudge({ load, judge, policyRevision, setAside, onFinding }: RescanJudgeOptions): RescanJudge {
  const hold = async (record: MemoryRecord, guard: GuardMark): Promise<boolean> => {
    const reason = `quarantined by a later policy; it was ${record.status}`;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      // at another version it is another text, judged when it was written
      const outcome = await setAside(record, (head) =>
        head.version === record.version && SEARCHABLE_STATUSES.includes(head.status) ? { status: 'quarantined', reason, guard } : undefined,
      );
      if (outcome !== 'moved') return outcome === 'done';
    }
    throw new HindsightError('ERR_VERSION_CONFLICT');
  };

  return async (refs, signal) => {
    const counts = { checked: 0, held: 0, reported: 0, rules: {} as Record<string, number> };
    for (const { record } of await load(refs)) {
      if (signal.aborted) return 'stopped';
      counts.checked += 1;
      if (!SEARCHABLE_STATUSES.includes(record.status)) continue;
      await nextTurn();
      const { verdict, ruleIds } = await judge(record, record.trust_tier);
      const action = actionFor(verdict, record);
      if (action === undefined) continue;
      if (action === 'quarantined' && !(await hold(record, { verdict, rule_ids: ruleIds, policy_revision: policyRevision }))) continue;
      counts[action === 'quarantined' ? 'held' : 'reported'] += 1;
      for (const rule of ruleIds) counts.rules[rule] = (counts.rules[rule] ?? 0) + 1;
      onFinding?.({ tenant: record.tenant, memoryId: record.memory_id, verdict, ruleIds, action });
    }
    return counts;
  };
}

/**
 * Undefined: it stays as it is. So does what was let in with a verdict as grave: a person decided on it then. A candidate's verdict changes
 * nothing here, the screen keeps such text from prompts.
 */
function actionFor(verdict: Verdict, record: MemoryRecord): RescanFinding['action'] | undefined {
  const gravity = VERDICTS.indexOf(verdict);
  if (gravity < VERDICTS.indexOf('confirm')) return undefined;
  if (record.trust_tier >= TIER.user_confirmed) return 'reported';
  return gravity <= (VERDICTS as readonly string[]).indexOf(record.guard.verdict) ? undefined : 'quarantined';
}
