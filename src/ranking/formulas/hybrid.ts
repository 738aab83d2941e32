/** The default formula: the calibrated sum of all weighted signals (retrieval.md, the one query that won), and the newest of a changed fact first. */
import { partOf, signalNamed, sumOf, weightedParts } from './formula.ts';
import type { Formula, Scored } from './formula.ts';
import { newerStatements } from './newer.ts';

export const hybrid: Formula = (page, context) => {
  const scored = page.map((evidence): Scored => {
    const parts = weightedParts(evidence, context);
    return { evidence, parts, total: sumOf(parts) };
  });
  const weight = context.weights['newest'] ?? 0;
  const newer = weight === 0 ? undefined : newerStatements(scored);
  if (newer === undefined || newer.size === 0) return scored;
  return scored.map(({ evidence, parts }) => {
    const all = [...parts, partOf(signalNamed('newest'), newer.has(evidence) ? 1 : null, weight, context)];
    return { evidence, parts: all, total: sumOf(all) };
  });
};
