/** The judge's policy (policies/judge.yaml): which texts a language model reads, how long, and how far its word goes; read at start. */
import { z } from 'zod';
import { TIER_NAMES, VERDICTS } from '../../domain/trust.ts';
import type { DeepReadonly } from '../../policy.ts';

const examples = z.strictObject({ match: z.array(z.string()).min(1), pass: z.array(z.string()).min(1) });
const patterns = z
  .array(z.string().min(1))
  .min(1)
  .refine((sources) => sources.every(compiles), 'must be regular expressions');

export const judgeSchema = z.strictObject({
  version: z.int().min(1),
  max_tier: z.enum(TIER_NAMES),
  max_verdict: z.enum(VERDICTS),
  /** A tier without a share is judged by signs alone. */
  share: z.partialRecord(z.enum(TIER_NAMES), z.number().min(0).max(1)),
  min_chars: z.int().min(1),
  batch_calls: z.int().min(1).max(1_000),
  time_ms: z.int().min(100).max(60_000),
  failures: z.int().min(1),
  rest_ms: z.int().min(0).max(3_600_000),
  signs: patterns,
  to_judge: patterns,
  examples: z.strictObject({ signs: examples, to_judge: examples }),
});

export type JudgePolicy = DeepReadonly<z.output<typeof judgeSchema>>;

function compiles(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}
