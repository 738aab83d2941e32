/** Latency figures: percentiles from an HDR histogram, and the median over rounds. */
import { build, type Histogram } from 'hdr-histogram-js';

const US_PER_MS = 1_000;
const HIGHEST_US = 10 * 60 * 1_000 * US_PER_MS;

export interface Percentiles {
  readonly count: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
}

/** Collects durations in milliseconds, kept to a microsecond with three significant digits. */
export class Latency {
  readonly #histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
  });

  add(durationMs: number): void {
    this.#histogram.recordValue(Math.min(HIGHEST_US, Math.max(1, Math.round(durationMs * US_PER_MS))));
  }

  /** Runs the call and adds its duration. */
  async time<T>(call: () => Promise<T>): Promise<T> {
    const from = performance.now();
    const value = await call();
    this.add(performance.now() - from);
    return value;
  }

  merge(other: Latency): void {
    this.#histogram.add(other.#histogram);
  }

  percentile(p: number): number {
    return this.#histogram.getValueAtPercentile(p) / US_PER_MS;
  }

  summary(): Percentiles {
    return {
      count: this.#histogram.totalCount,
      p50_ms: this.percentile(50),
      p95_ms: this.percentile(95),
      p99_ms: this.percentile(99),
      max_ms: this.#histogram.maxValue / US_PER_MS,
    };
  }
}

/** Median; the mean of the middle two for an even number. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** "3.4 / 5.1 ms". */
export function p50p95({ p50_ms, p95_ms }: Percentiles): string {
  return `${p50_ms.toFixed(2)} / ${p95_ms.toFixed(2)} ms`;
}
