/** Seeded random numbers: the same seed gives the same corpus on every machine. */

/** mulberry32: numbers in [0, 1) with a period of 2^32; enough for data that only has to look alike. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Whole number in [0, n). */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** Like pick, but the first items come far more often, as words and people do (about 1 / rank). */
  pickSkewed<T>(items: readonly T[]): T {
    return items[Math.min(items.length - 1, Math.floor(items.length ** this.next() - 1))] as T;
  }

  chance(p: number): boolean {
    return this.next() < p;
  }
}

/** At most `count` of the items in their order, drawn by the seed: every `n`th would follow whatever period the data has. */
export function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  const random = new Random(seed);
  const places = items.map((_, i) => i);
  for (let i = places.length - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    [places[i], places[j]] = [places[j] as number, places[i] as number];
  }
  return places
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((i) => items[i] as T);
}
