/** Means with bootstrap intervals (Efron 1979; Sakai 2006 for retrieval figures): how far a figure would move with other questions. Pure. */
import { Random } from './random.ts';

export interface Estimate {
  readonly mean: number;
  /** Ends of the 95 % percentile interval. */
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly seed: number;
  readonly resamples: number;
}

export const BOOTSTRAP: BootstrapOptions = { seed: 20_261_130, resamples: 1_000 };
const TAIL = 0.025;

/** Mean of the values, and the interval of the means of resamples of the same size. All NaN when there is no value. */
export function bootstrapMean(values: readonly number[], options: BootstrapOptions = BOOTSTRAP): Estimate {
  return bootstrapMacro([values], options);
}

/**
 * Mean over groups of the groups' means; questions are resampled inside their group, so that every group keeps its weight. Values may be
 * figures, or paired differences of two rankings of the same questions. All NaN when a group is empty.
 */
export function bootstrapMacro(groups: readonly (readonly number[])[], { seed, resamples }: BootstrapOptions = BOOTSTRAP): Estimate {
  const mean = meanOf(groups.map(meanOf));
  if (Number.isNaN(mean)) return { mean, low: Number.NaN, high: Number.NaN };
  const random = new Random(seed);
  const means = new Float64Array(resamples);
  for (let i = 0; i < resamples; i += 1) {
    let total = 0;
    for (const values of groups) {
      let sum = 0;
      for (let j = 0; j < values.length; j += 1) sum += values[random.below(values.length)] ?? 0;
      total += sum / values.length;
    }
    means[i] = total / groups.length;
  }
  means.sort();
  return { mean, low: quantile(means, TAIL), high: quantile(means, 1 - TAIL) };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Linear between the two nearest of sorted values. */
function quantile(sorted: Float64Array, q: number): number {
  const at = q * (sorted.length - 1);
  const [below = Number.NaN, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
}
