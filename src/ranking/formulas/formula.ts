/** What a ranking formula is, and the parts all of them are put together from. */
import type { SignalPart } from '../../domain/ranking.ts';
import type { RankContext } from '../context.ts';
import { SIGNALS } from '../signals/catalogue.ts';
import type { Evidence, Signal } from '../signals/signal.ts';

export interface Scored {
  readonly evidence: Evidence;
  /** Sum of the contributions, unclipped. */
  readonly total: number;
  readonly parts: readonly SignalPart[];
}

/** Scores all hits of a page; order and clipping are fuse's. */
export type Formula = (page: readonly Evidence[], context: RankContext) => readonly Scored[];

/** What a formula reads in its own way instead of the catalogue's, by signal name. */
export type Overrides = Readonly<Record<string, Partial<Pick<Signal, 'raw' | 'normalise' | 'sentence'>> | undefined>>;

/**
 * One weighted part for each signal that has a weight and a part in the request: contribution = normalised x weight. Of the similarity
 * signals only the best counts. A hit no vector could speak for gets the vector's weight added to its lexical part, so that words
 * alone can reach the whole range.
 */
export function weightedParts(evidence: Evidence, context: RankContext, overrides: Overrides = {}): SignalPart[] {
  const parts: SignalPart[] = [];
  const vectorWeight = context.weights['vector'] ?? 0;
  const best = bestSimilarity(evidence, context);
  for (const listed of SIGNALS) {
    let weight = context.weights[listed.weightOf ?? listed.name] ?? 0;
    const carries = listed.name === 'lexical' && evidence.withoutVector;
    if (carries) weight += vectorWeight;
    if (weight === 0) continue;
    const override = overrides[listed.name];
    const signal: Signal = override === undefined ? listed : { ...listed, ...override };
    const raw = signal.raw(evidence, context);
    if (raw === undefined) continue;
    const counted = listed.group === 'similarity' && listed !== best ? 0 : weight;
    parts.push(partOf(signal, raw, listed.against === true ? -counted : counted, context));
  }
  return parts;
}

/** One part; a signal that had no part counts 0. */
export function partOf(signal: Signal, raw: number | null, weight: number, context: RankContext): SignalPart {
  const normalised = raw === null ? 0 : signal.normalise(raw, context);
  return {
    signal: signal.name,
    raw,
    normalised,
    weight,
    contribution: normalised * weight,
    sentence: sentenceOf(signal, raw, normalised, context),
  };
}

/** Empty in a ranking that nobody wants explained: twenty hits have hundreds of them. */
function sentenceOf(signal: Signal, raw: number | null, normalised: number, { lang, told }: RankContext): string {
  if (!told) return '';
  if (raw === null) return lang === 'zh' ? '没有作用' : 'It had no part';
  return signal.sentence(raw, normalised, lang);
}

export function signalNamed(name: string): Signal {
  const signal = SIGNALS.find((candidate) => candidate.name === name);
  if (signal === undefined) throw new Error(`no such signal: ${name}`);
  return signal;
}

export function sumOf(parts: readonly SignalPart[]): number {
  return parts.reduce((sum, part) => sum + part.contribution, 0);
}

function bestSimilarity(evidence: Evidence, context: RankContext): Signal | undefined {
  let best: Signal | undefined;
  let most = -1;
  for (const signal of SIGNALS) {
    if (signal.group !== 'similarity') continue;
    const raw = signal.raw(evidence, context);
    const value = raw === null || raw === undefined ? -1 : signal.normalise(raw, context);
    if (value > most) [best, most] = [signal, value];
  }
  return best;
}
