/** Seeded unit vectors in clusters: embeddings crowd around topics, and a graph over uniform noise would be harder than any real one. */
import { Random } from './random.ts';

const CLUSTERS = 256;
/** Length of the noise beside a centre of length 1: cosine within a cluster about 1 / (1 + .8²) = .6, as in real dialogue. */
const NOISE = 0.8;

export class VectorSource {
  readonly #random: Random;
  readonly #centres: readonly Float64Array[];
  readonly #dims: number;

  constructor(dims: number, seed: number) {
    this.#dims = dims;
    this.#random = new Random(seed);
    this.#centres = Array.from({ length: CLUSTERS }, () => this.#noise(1));
  }

  /** A vector of length 1 near the centre of a cluster, rounded to six places. */
  next(cluster: number): number[] {
    const centre = this.#centres[cluster % CLUSTERS] ?? this.#noise(1);
    const vector = this.#noise(NOISE);
    let square = 0;
    for (let i = 0; i < this.#dims; i += 1) {
      const x = (vector[i] ?? 0) + (centre[i] ?? 0);
      vector[i] = x;
      square += x * x;
    }
    const scale = 1e6 / Math.sqrt(square);
    return Array.from(vector, (x) => Math.round(x * scale) / 1e6);
  }

  /** Uniform in each dimension, of the given length on average. */
  #noise(length: number): Float64Array {
    const half = length * Math.sqrt(3 / this.#dims);
    const vector = new Float64Array(this.#dims);
    for (let i = 0; i < this.#dims; i += 1) vector[i] = (2 * this.#random.next() - 1) * half;
    return vector;
  }
}
