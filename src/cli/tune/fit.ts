/** Finds the weights under which judged questions are answered best: coordinate ascent from the profile's own (Metzler and Croft 2007). Pure. */
import { ndcg10, reciprocalRank } from '../../ranking/measures.ts';
import { WEIGHT_NAMES } from '../../ranking/signals/catalogue.ts';
import { meanOf } from './chance.ts';
import { rankedBy, type Question, type Weights } from './questions.ts';

export type MeasureName = 'ndcg' | 'mrr';

export const MEASURES: Readonly<Record<MeasureName, (ranked: readonly string[], relevant: ReadonlySet<string>) => number>> = {
  ndcg: ndcg10,
  mrr: reciprocalRank,
};

/**
 * Only the relations of weights order hits: the vector's stays, so that scores keep the scale that the floor was calibrated on. Redundancy is
 * of one published formula alone.
 */
const FIXED: ReadonlySet<string> = new Set(['vector', 'redundancy']);
const TUNED: readonly string[] = WEIGHT_NAMES.filter((name) => !FIXED.has(name));

const FACTORS = [0, 0.25, 0.5, 0.75, 1.33, 2, 3] as const;
/** Tried where the profile gives a signal no weight. */
const FROM_NOTHING = [0.01, 0.02, 0.05, 0.1, 0.2] as const;
const MAX_WEIGHT = 10;
const MAX_ROUNDS = 4;
/** A step that brings less is not taken: weights that do nothing here stay as somebody chose them. */
const LEAST_GAIN = 0.001;
/**
 * Nor one whose gain is less than so many of its standard errors over the questions (one-sided 5 %): some hundred steps are tried, and one
 * question that moves among fifty is no reason. Without it 56 questions of MemoryBank gave weights that lost .034 of nDCG@10 held out.
 */
const LEAST_ERRORS = 1.64;

/** Starts at `base`; a weight moves to the best value of a grid around its own, where that gains more than chance would. */
export function fit(questions: readonly Question[], base: Weights, measure: MeasureName): Weights {
  let weights = base;
  let figures = figuresOf(questions, weights, measure);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = weights;
    for (const name of TUNED) {
      let most = 0;
      const [now, from] = [figures, weights];
      for (const value of gridOf(from[name] ?? 0)) {
        const tried = { ...from, [name]: value };
        const found = figuresOf(questions, tried, measure);
        const gain = sureGain(now, found);
        if (gain > most) [weights, figures, most] = [tried, found, gain];
      }
    }
    if (weights === before) break;
  }
  return weights;
}

/** Of each question as the weights would order its candidates. */
export function figuresOf(questions: readonly Question[], weights: Weights, measure: MeasureName): readonly number[] {
  return questions.map((question) => MEASURES[measure](rankedBy(question, weights), question.relevant));
}

/** Mean gain; 0 where it is none to rely on. */
function sureGain(before: readonly number[], after: readonly number[]): number {
  const gains = after.map((value, i) => value - (before[i] ?? 0));
  const mean = meanOf(gains);
  if (mean < LEAST_GAIN) return 0;
  const variance = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / Math.max(1, gains.length - 1);
  return mean >= LEAST_ERRORS * Math.sqrt(variance / gains.length) ? mean : 0;
}

function gridOf(weight: number): readonly number[] {
  if (weight === 0) return FROM_NOTHING;
  return FACTORS.map((factor) => Number(Math.min(MAX_WEIGHT, weight * factor).toFixed(4)));
}

/** Signals whose weight differs, with both. */
export function movedIn(
  base: Weights,
  weights: Weights,
): readonly { readonly signal: string; readonly from: number; readonly to: number }[] {
  return TUNED.flatMap((signal) => {
    const [from, to] = [base[signal] ?? 0, weights[signal] ?? 0];
    return from === to ? [] : [{ signal, from, to }];
  });
}
