/** What a class of content leads to at each trust tier (policies/guard/verdicts.yaml, the table of guard.md). */
import { z } from 'zod';
import { tierName, TIER_NAMES, VERDICTS, type Verdict } from '../../domain/trust.ts';
import type { DeepReadonly } from '../../policy.ts';
import { CONTENT_CLASSES, type ContentClass } from './rules.ts';

const perTier = z.record(z.enum(TIER_NAMES), z.enum(VERDICTS));

/** Complete by construction: a class or tier without a verdict is refused at start. */
export const verdictsSchema = z.strictObject({
  version: z.int().min(1),
  verdicts: z.record(z.enum([...CONTENT_CLASSES, 'hidden']), perTier),
});

export type VerdictTable = DeepReadonly<z.output<typeof verdictsSchema>>['verdicts'];

/** `hidden`: the words stood in a reading that a person does not see, which is graver than any class they have. */
export function verdictFor(table: VerdictTable, contentClass: ContentClass, hidden: boolean, tier: number): Verdict {
  return table[hidden ? 'hidden' : contentClass][tierName(tier)];
}
