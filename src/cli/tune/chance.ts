/** Seeded chance for `tune`: the folds, and how far a gain would move with other questions. Pure. */

export interface Estimate {
  readonly mean: number;
  /** Ends of the 95 % percentile interval. */
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2_000;
const TAIL = 0.025;

/** mulberry32: numbers in [0, 1), the same ones for the same seed. */
function randomBy(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Fold of each of `count` questions, 0 to `folds` - 1, as equal in size as can be; drawn by the seed. */
export function foldsOf(count: number, folds: number, seed: number): readonly number[] {
  const random = randomBy(seed);
  const fold = Array.from({ length: count }, (_, i) => i % folds);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [fold[i], fold[j]] = [fold[j] ?? 0, fold[i] ?? 0];
  }
  return fold;
}

/** Mean with the interval of the means of resamples of the same size (Efron 1979; Sakai 2006 for paired differences of retrieval figures). */
export function estimate(values: readonly number[], seed: number): Estimate {
  const random = randomBy(seed);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i += 1) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN;
  return { mean: meanOf(values), low: at(TAIL), high: at(1 - TAIL) };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
