/** The default formula: the calibrated sum of all weighted signals (retrieval.md, the one query that won). */
import { sumOf, weightedParts } from './formula.ts';
import type { Formula } from './formula.ts';

export const hybrid: Formula = (page, context) =>
  page.map((evidence) => {
    const parts = weightedParts(evidence, context);
    return { evidence, parts, total: sumOf(parts) };
  });
