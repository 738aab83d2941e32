/** The default formula: the calibrated sum of all weighted signals (retrieval.md, the one query that won), the newest of a changed fact first, and the earliest day where that is asked for. */
import type { Evidence } from '../signals/signal.ts';
import type { RankContext } from '../context.ts';
import { earliness } from './earliest.ts';
import { partOf, signalNamed, sumOf, weightedParts } from './formula.ts';
import type { Formula, Scored } from './formula.ts';
import { newerStatements } from './newer.ts';

export const hybrid: Formula = (page, context) => {
  const scored = page.map((evidence): Scored => {
    const parts = weightedParts(evidence, context);
    return { evidence, parts, total: sumOf(parts) };
  });
  const weight = context.weights['newest'] ?? 0;
  const newer = weight === 0 ? undefined : newerStatements(scored, weight, context.holdsNow);
  const renewed = newer === undefined || newer.size === 0 ? scored : withPart(scored, 'newest', (one) => newer.get(one) ?? null, context);
  if (!context.dates.first || (context.weights['earliest'] ?? 0) === 0) return renewed;
  const early = earliness(renewed);
  return withPart(renewed, 'earliest', (one) => early.get(one) ?? null, context);
};

/** Each hit with one more part, of a signal that only the whole page tells. */
function withPart(scored: readonly Scored[], name: string, raw: (one: Evidence) => number | null, context: RankContext): Scored[] {
  return scored.map(({ evidence, parts }) => {
    const all = [...parts, partOf(signalNamed(name), raw(evidence), context.weights[name] ?? 0, context)];
    return { evidence, parts: all, total: sumOf(all) };
  });
}
