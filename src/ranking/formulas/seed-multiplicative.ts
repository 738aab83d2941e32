/** Seed formula: s x (1 + a x recency) x (1 + b x log(uses + 1)), s = the calibrated similarity of vector and words. */
import type { SignalPart } from '../../domain/ranking.ts';
import type { Formula } from './formula.ts';
import { partOf, signalNamed, sumOf, weightedParts } from './formula.ts';

/** Natural logarithm of uses + 1, of which access_level is the whole part to base 2. */
const LN2 = Math.log(2);

/** Each factor's part in the sum is what it adds to the product of those before it, so that contributions add up to the score. */
export const seedMultiplicative: Formula = (page, context) =>
  page.map((evidence) => {
    const { recency: a = 0, access: b = 0, ...rest } = context.weights;
    const parts = weightedParts(evidence, { ...context, weights: rest });
    let product = sumOf(parts);
    const grow = (part: SignalPart, factor: number): void => {
      parts.push({ ...part, contribution: product * factor });
      product *= 1 + factor;
    };
    const recency = partOf(signalNamed('recency'), signalNamed('recency').raw(evidence, context) ?? null, a, context);
    grow(recency, a * recency.normalised);
    const level = evidence.record.access_level ?? 0;
    grow(partOf(signalNamed('access'), level, b, context), b * level * LN2);
    return { evidence, parts, total: product };
  });
