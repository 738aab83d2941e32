/** Seed formula: 0.6 vector + 0.2 recency + 0.2 importance. */
import type { Formula } from './formula.ts';
import { sumOf, weightedParts } from './formula.ts';

export const seedSimple: Formula = (page, context) =>
  page.map((evidence) => {
    const parts = weightedParts(evidence, context);
    return { evidence, parts, total: sumOf(parts) };
  });
