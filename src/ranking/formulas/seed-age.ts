/** Seed formula: 0.7 vector + 0.2 keyword + 0.1 x 0.98^days. */
import type { Formula } from './formula.ts';
import { sumOf, weightedParts } from './formula.ts';

const KEPT_PER_DAY = 0.98;

export const seedAge: Formula = (page, context) =>
  page.map((evidence) => {
    const parts = weightedParts(evidence, context, { recency: { normalise: (days) => KEPT_PER_DAY ** days } });
    return { evidence, parts, total: sumOf(parts) };
  });
