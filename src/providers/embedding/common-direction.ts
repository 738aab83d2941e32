/** What all texts have in common in a model's space, so that a query need not look for it; between a model and the vectors of its queries. */
import { normalise } from './provider.ts';

export interface CommonDirection {
  /** Mean of the vectors of many texts, not of length 1. */
  readonly mean: Float32Array;
  /** Of it so much is taken from each query. */
  readonly share: number;
}

/** Steps of 1 / 250. */
const STEP = 1 / 250;

/**
 * Mean of bge-small-zh-v1.5 over thirty everyday sentences of each language (test/support/common-sentences.txt; the test of the local models makes
 * it again), in signed bytes.
 */
const BGE_SMALL_ZH =
  '/QUF/wP6+AcE/hO49//5AQH59/0F+PYECPsC/fH4BP0A/QUD+vf7Bf4FAgP99fsJ/ggBBwgHBPIBAv8J/vr8Av4B/AHxCvwHA/YA+vgBB/8E+Q' +
  'IK+P7+/QL0//cFDvoC9P/+/f4H/gH3/QL4AwH9//z+A/sEAP0EBwMJAPEGBQACBQMI/AP7/wEB+vr7AADwAgD9AgoCBvkEAf0JCQn1+wMB/w/3' +
  '9P4HAfwC/vb3AgD+/vvz/v4C/gcBAPz3AwUEBvsAA/0EBP/7BQwD/Av39/z9BgH7+gb4/P8A9v4MBP4BAAABAQECAv/5Bvv7/gD7BRr9Afr++A' +
  'b/Avz8//r6+fz7AQP5//0DCf34BfL6BAP6+wAK+Af/Bf3//f78APP//Qb/BwQM/gD7AwH/BfwG+/r8BfsEBAAC/AQF/wEC+vT2C/v7AAIKAgL9' +
  '//MC+gP3APUSCv0A+AoGCgT/AAr99/3y/vsK+/cH7/37BAf9+/39AfoFDAMG8vn8+An5Av3+F//2CwwGBPIBAgn1//n/+/wD/AcFB/j8Af07Av' +
  '0CAgX2BgMCBf37+f7++vv1BAMEA/8E//f9AAEBAAMFBgr/CQUABgP+DQEC9PwB8vfw+v71Afr9/v4A7wcD+woBDP4CBgABBQASA/0B/vkK+/wB' +
  'AP8CAQL2/vwAAPgH/PYHAAQ=';

/**
 * Memories near to what all texts have in common come up for any question (hubs); with a part of it out of the query they lose what they have
 * from that alone. The memories' vectors stay as they are. Source: Suzuki et al. 2013, Centering similarity measures to reduce hubs; Mu and
 * Viswanath 2018, All-but-the-top. Bench run on dev, share .2: MADial zh + .007, MemDaily + .005 recall@5; nDCG@10 of five sets with Chinese
 * + .002 to + .007; at .35 and above MemoryBank zh loses. In the e5 space LoCoMo loses .006.
 */
export const COMMON_OF_BGE_SMALL_ZH: CommonDirection = { mean: decoded(BGE_SMALL_ZH), share: 0.2 };

/** The query's vector without its share of the common direction, of length 1 again. */
export function withoutCommon(query: Float32Array, { mean, share }: CommonDirection): Float32Array {
  return normalise(query.map((x, i) => x - share * (mean[i] ?? 0))) ?? query;
}

function decoded(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), (value) => value * STEP);
}
