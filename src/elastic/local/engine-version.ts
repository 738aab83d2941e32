/** The Elasticsearch releases that can be booted from their library jars, and the Java each of them needs. */

export type EngineVersion = '8.19.9' | '9.0.8';

interface EngineFacts {
  /** Oldest Java major the release runs on. */
  readonly minJava: number;
  /** Java majors for which its Lucene has vector (SIMD) code: these are taken first. */
  readonly simdJava: readonly number[];
}

/**
 * Source: the range of Java majors in Lucene's VectorizationProvider (9.12.2 in 8.19.9: 21 and 22; 10.1.0 in 9.0.8: 21 to 23); outside of
 * it the engine's log says so at start (8.19.9: "too old" on 17, "too new" on 25).
 */
export const ENGINE_FACTS: Readonly<Record<EngineVersion, EngineFacts>> = {
  '8.19.9': { minJava: 17, simdJava: [21, 22] },
  '9.0.8': { minJava: 21, simdJava: [21, 22, 23] },
};
