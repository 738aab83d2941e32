/** Scans again at read what an older revision of the policies let in; a stage of the guard's screen, so that a new rule holds for old records. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TIER, VERDICTS, type Verdict } from '../../domain/trust.ts';
import { statusOf } from '../admission.ts';
import type { ScreenedFields, ScreenOptions, ScreenStage } from '../guard.ts';
import { sealedTextsOf } from '../sealed-texts.ts';
import type { Named } from '../text/identifiers.ts';

/** What the rules of this revision say of texts at a tier; the judge that admission asks as well. */
export type TextJudge = (
  record: Parameters<typeof sealedTextsOf>[0] & Named & { readonly namespace?: string; readonly uri?: string | undefined },
  tier: number,
) => Promise<{ readonly verdict: Verdict; readonly ruleIds: readonly string[] }>;

export interface HeldBack {
  readonly memoryId: string;
  readonly verdict: Verdict;
  readonly ruleIds: readonly string[];
  /** True when this process finds it for the first time: log it once, count it always. */
  readonly first: boolean;
}

export interface RescanOptions {
  readonly judge: TextJudge;
  /** Records admitted under this one are not scanned. */
  readonly policyRevision: string;
  /** Told of every record that is left out. */
  readonly onHeldBack?: (found: HeldBack) => void;
}

/** Findings kept, about 200 bytes each: 4 MB. What comes up again and again is scanned once a process; the rest costs a scan again. */
const MAX_FINDINGS = 20_000;

/**
 * The stage. Left out is what would now be blocked, quarantined or held for a confirmation at its tier, and, of hits that go into prompts,
 * what would be a candidate. What a person has decided on stays: a verdict no graver than the one it was let in with, and a confirmation
 * for what is user_confirmed. What is held back already goes to people alone and is not scanned. A judge that throws fails the stage.
 */
export function rescanStage({ judge, policyRevision, onHeldBack }: RescanOptions): ScreenStage {
  const findings = new Map<string, Omit<HeldBack, 'memoryId' | 'first'>>();

  const found = async (record: ScreenedFields): Promise<Omit<HeldBack, 'memoryId'>> => {
    const key = keyOf(record);
    const known = findings.get(key);
    if (known !== undefined) {
      // the order of a Map is the order of use
      findings.delete(key);
      findings.set(key, known);
      return { ...known, first: false };
    }
    await nextTurn();
    const { verdict, ruleIds } = await judge(record, record.trust_tier);
    findings.set(key, { verdict, ruleIds });
    for (const oldest of findings.keys()) {
      if (findings.size <= MAX_FINDINGS) break;
      findings.delete(oldest);
    }
    return { verdict, ruleIds, first: true };
  };

  return {
    name: 'rescan',
    keep: (record, options) => {
      const { status, guard } = record;
      if (guard.policy_revision === policyRevision || status === 'pending' || status === 'quarantined' || options.unshown === true)
        return true;
      return found(record).then((finding) => {
        if (mayStay(finding.verdict, record, options)) return true;
        onHeldBack?.({ memoryId: record.memory_id, ...finding });
        return false;
      });
    },
  };
}

function mayStay(verdict: Verdict, record: ScreenedFields, { prompt }: ScreenOptions): boolean {
  const admittedWith = (VERDICTS as readonly string[]).indexOf(record.guard.verdict);
  if (VERDICTS.indexOf(verdict) <= admittedWith) return true;
  switch (statusOf(verdict, 'active')) {
    case 'active':
      return true;
    case 'candidate':
      return prompt !== true || record.status === 'candidate';
    case 'pending':
      return record.trust_tier >= TIER.user_confirmed;
    default:
      return false;
  }
}

/** Over the very texts that would be shown: a hit and a sample show fewer than the whole record does. */
function keyOf(record: ScreenedFields): string {
  const { tenant, memory_id, version, trust_tier } = record;
  return createHash('sha256')
    .update(JSON.stringify([tenant, memory_id, version, trust_tier, sealedTextsOf(record)]))
    .digest('base64url');
}
