/** The text guard as a stage of admission: every text field, in every reading, against the rules, at the tier the writer reaches. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { INSTRUCTION_TIER, VERDICTS, type Verdict } from '../../domain/trust.ts';
import type { AdmissionStage } from '../admission.ts';
import type { TextJudge } from '../screening/rescan.ts';
import { sealedTextsOf } from '../sealed-texts.ts';
import { joinedNamesOf, namesOf, wordsOfAddress } from './identifiers.ts';
import type { NameOrders } from './name-orders.ts';
import { nameJudge } from './namespace-names.ts';
import type { RuleSet } from './rules.ts';
import { tellsSomebody } from './subjects.ts';
import { verdictFor, type VerdictTable } from './verdicts.ts';
import { readingBudget, viewsOf } from './views.ts';

/** Text is read in overlapping windows, so that no length of it holds the event loop (bench/guard: a window takes 1-9 ms at worst). */
const WINDOW_CHARS = 4_096;
const OVERLAP_CHARS = 512;

export interface TextGuardPolicy {
  readonly rules: RuleSet;
  readonly verdicts: VerdictTable;
  readonly nameOrders: NameOrders;
}

/** Finds instructions, sensitive operations and hidden payloads; the verdict is the gravest over all readings. */
export function textJudge({ rules, verdicts, nameOrders }: TextGuardPolicy): TextJudge {
  const judgeName = nameJudge({ rules, nameOrders });
  return async (record, tier) => {
    // one line each, so that what is split over fields is read together
    const text = Object.values(sealedTextsOf(record)).join('\n');
    let verdict: Verdict = 'allow';
    const ruleIds = new Set<string>();
    const budget = readingBudget();
    for (let from = 0; from < text.length; from += WINDOW_CHARS - OVERLAP_CHARS) {
      if (from > 0) await nextTurn();
      for (const view of viewsOf(text.slice(wholeGroup(text, from), from + WINDOW_CHARS), budget)) {
        for (const finding of rules.find(view.text, tier, view.hidden)) {
          ruleIds.add(view.name === 'plain' ? finding.ruleId : `${finding.ruleId}@${view.name}`);
          verdict = graver(verdict, verdictFor(verdicts, finding.contentClass, view.hidden, tier));
        }
      }
    }
    if (budget.excess) {
      ruleIds.add(EXCESS);
      verdict = graver(verdict, verdictFor(verdicts, 'sensitive', true, tier));
    }
    const address = record.uri === undefined ? undefined : wordsOfAddress(record.uri);
    const joined = joinedNamesOf(record);
    for (const words of [...namesOf(record), ...joined, ...(address === undefined ? [] : [address])])
      for (const view of viewsOf(words))
        for (const finding of rules.find(view.text, tier, view.hidden)) {
          const subject = words === address || (!view.hidden && joined.includes(words) && !tellsSomebody(words));
          if (subject && !finding.addresses) continue;
          ruleIds.add(`${finding.ruleId}@name`);
          verdict = graver(verdict, verdictFor(verdicts, finding.contentClass, view.hidden, tier));
        }
    // a person may go on in a namespace that there is; nobody else adds to one that gives orders
    if (record.namespace !== undefined && tier < INSTRUCTION_TIER)
      for (const ruleId of judgeName(record.namespace)) {
        ruleIds.add(ruleId);
        verdict = 'block';
      }
    return { verdict, ruleIds: [...ruleIds] };
  };
}

/** Encoded within encoded within encoded, or more of it than is opened: nobody writes that for a reader. */
const EXCESS = 'encoding-excess';

const ENCODED = /[A-Za-z0-9+/_-]/;
/** Characters of a whole group in base32; those of base64 (4) and hex (2) divide it. */
const GROUP_CHARS = 8;

/** `from`, or a little before, where it would cut a group of an encoded run: what follows would then decode to nothing. */
function wholeGroup(text: string, from: number): number {
  let runStart = from;
  while (runStart > 0 && ENCODED.test(text.charAt(runStart - 1))) runStart -= 1;
  return from - ((from - runStart) % GROUP_CHARS);
}

/**
 * The judge as a stage: it looks at the tier that earlier stages have left. What others will read is judged no otherwise: to them it is data
 * by its owner, whatever the rules say of it (confirmation.ts).
 */
export const textStage = (judge: TextJudge): AdmissionStage => ({
  name: 'text',
  judge: (draft, { unmasked, source }, { tier }) => judge({ ...draft, ...unmasked, uri: source?.uri }, tier),
});

const graver = (a: Verdict, b: Verdict): Verdict => (VERDICTS.indexOf(b) > VERDICTS.indexOf(a) ? b : a);
