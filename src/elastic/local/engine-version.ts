/** The Elasticsearch releases that can be booted from their library jars, and the Java each of them needs. */

export type EngineVersion = '8.19.9' | '9.0.8';

interface EngineFacts {
  /** Oldest Java major the release runs on. */
  readonly minJava: number;
  /** Java majors for which its Lucene has vector (SIMD) code: these are taken first. */
  readonly simdJava: readonly number[];
}

/**
 * Source: Lucene's VectorizationProvider (9.12.2 in 8.19.9: Java 21 and 22 measured, "too old" on 17 and "too new" on 25;
 * 10.1.0 in 9.0.8: Java 21 to 23, "unsupported" on 25).
 */
export const ENGINE_FACTS: Readonly<Record<EngineVersion, EngineFacts>> = {
  '8.19.9': { minJava: 17, simdJava: [21, 22] },
  '9.0.8': { minJava: 21, simdJava: [21, 22, 23] },
};
