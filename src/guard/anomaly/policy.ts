/** The anomaly policy (policies/guard/anomaly.yaml): how much of what is too much; read once at start, used by the guard's anomaly stage. */
import { z } from 'zod';
import { TIER_NAMES } from '../../domain/trust.ts';
import type { DeepReadonly } from '../../policy.ts';

export const anomalySchema = z.strictObject({
  version: z.int().min(1),
  max_tier: z.enum(TIER_NAMES),
  window_minutes: z.int().min(1).max(1_440),
  burst: z.strictObject({ records: z.int().min(1) }),
  near_duplicates: z.strictObject({
    copies: z.int().min(1),
    overlap: z.number().gt(0).max(1),
    compared: z.int().min(1).max(256),
  }),
  hubness: z.strictObject({
    queries: z.int().min(2).max(64),
    times_usual: z.number().min(1),
    related: z.number().gt(0).max(1),
    share: z.number().min(0).max(1),
  }),
  trigger_suffix: z.strictObject({
    words: z.int().min(3),
    match: z.array(z.string()).min(1),
    pass: z.array(z.string()).min(1),
  }),
});

export type AnomalyPolicy = DeepReadonly<z.output<typeof anomalySchema>>;
