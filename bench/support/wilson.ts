/** The Wilson score interval of a share (Wilson 1927), which stays sane for small counts and shares near 0 or 1. */

const Z_95 = 1.96;

/** 95 % interval of hits / n; 0 to 0 for n = 0. */
export function wilson(hits: number, n: number): { readonly low: number; readonly high: number } {
  if (n === 0) return { low: 0, high: 0 };
  const p = hits / n;
  const d = 1 + Z_95 ** 2 / n;
  const centre = p + Z_95 ** 2 / (2 * n);
  const half = Z_95 * Math.sqrt((p * (1 - p)) / n + Z_95 ** 2 / (4 * n ** 2));
  return { low: Math.max(0, (centre - half) / d), high: Math.min(1, (centre + half) / d) };
}
