/** TF-IDF vectors of a set of sentences, and what is near what among them. Pure and deterministic. */
import type { Sentence } from './sentence.ts';

/** Weights by term number, of length 1; empty for a sentence without terms. */
export type TermVector = ReadonlyMap<number, number>;

export interface TermSpace {
  readonly vectors: readonly TermVector[];
  /** A text's vector in the same space; terms that no sentence has are left out. */
  vectorOf(terms: readonly string[]): TermVector;
}

/**
 * (1 + ln tf) x ln(1 + N / df), scaled to length 1 (Salton and Buckley 1988, ltc): a dot product is the cosine. Linear in the terms.
 */
export function termSpace(sentences: readonly Pick<Sentence, 'terms'>[]): TermSpace {
  const numbers = new Map<string, number>();
  const df: number[] = [];
  for (const { terms } of sentences)
    for (const term of new Set(terms)) {
      const known = numbers.get(term);
      if (known === undefined) numbers.set(term, df.push(1) - 1);
      else df[known] = (df[known] ?? 0) + 1;
    }
  const vectorOf = (terms: readonly string[]): TermVector => {
    const counts = new Map<number, number>();
    for (const term of terms) {
      const number = numbers.get(term);
      if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    let squares = 0;
    for (const [number, count] of counts) {
      const weight = (1 + Math.log(count)) * Math.log(1 + sentences.length / (df[number] ?? 1));
      counts.set(number, weight);
      squares += weight * weight;
    }
    const length = Math.sqrt(squares);
    for (const [number, weight] of counts) counts.set(number, weight / length);
    return counts;
  };
  return { vectors: sentences.map(({ terms }) => vectorOf(terms)), vectorOf };
}

/** Cosine, 0..1. */
export function cosine(a: TermVector, b: TermVector): number {
  const [short, long] = a.size <= b.size ? [a, b] : [b, a];
  let sum = 0;
  for (const [number, weight] of short) sum += weight * (long.get(number) ?? 0);
  return sum;
}

/** The mean of the vectors, scaled to length 1: what the whole is about. */
export function centroid(vectors: readonly TermVector[]): TermVector {
  const sum = new Map<number, number>();
  for (const vector of vectors) for (const [number, weight] of vector) sum.set(number, (sum.get(number) ?? 0) + weight);
  let squares = 0;
  for (const weight of sum.values()) squares += weight * weight;
  const length = Math.sqrt(squares);
  if (length > 0) for (const [number, weight] of sum) sum.set(number, weight / length);
  return sum;
}
