/** A judged question with its candidates as numbers: how each would be scored by other weights, without asking again. Pure. */
import type { RankingProfile } from '../../domain/ranking.ts';
import type { SearchAnswer } from '../../domain/wire/read.ts';
import { rankContext } from '../../ranking/context.ts';
import { SIGNALS, WEIGHT_NAMES } from '../../ranking/signals/catalogue.ts';
import type { JudgedRow } from './judged.ts';

export type Weights = Readonly<Record<string, number>>;

export interface Candidate {
  readonly memoryId: string;
  /** normalised value by the name of the weight that it is counted with; below 0 where it is counted against. */
  readonly values: Weights;
  /** What no weight of the profile moves: doubt, consensus, crowds. */
  readonly rest: number;
  /** No vector could speak for it: the weight of the vector goes to its words. */
  readonly withoutVector: boolean;
}

export interface Question {
  readonly relevant: ReadonlySet<string>;
  /** In the order of the service. */
  readonly candidates: readonly Candidate[];
  /** Vector's share of vector + lexical where the form of the question decides it. */
  readonly share: number | undefined;
  /** Least weight of recency: the question asks for the latest. */
  readonly leastRecency: number;
}

/** Seen in an explanation, and too small to move anything. */
const TRACE = 1e-6;

/** Weights under which the explanation shows every signal, also those that the profile gives none. */
export function tracing({ weights }: RankingProfile): Weights {
  return Object.fromEntries(WEIGHT_NAMES.map((name) => [name, Math.max(TRACE, weights[name] ?? 0)]));
}

/** The question as the service explained it under `tracing`. */
export function questionOf(row: JudgedRow, answer: SearchAnswer, profile: RankingProfile, nowMs: number): Question {
  const { vector = 0, lexical = 0, recency = 0 } = profile.weights;
  const { weights } = rankContext({
    query: row.query,
    vectors: [],
    filter: {},
    profile,
    topK: 1,
    askedAtMs: row.asked_at === undefined ? nowMs : Date.parse(row.asked_at),
    taskId: undefined,
    taskType: undefined,
    passages: false,
  });
  const { vector: asked = 0, lexical: words = 0, recency: least = 0 } = weights;
  return {
    relevant: new Set(row.relevant),
    candidates: answer.hits.map((hit) => candidateOf(hit, words)),
    share: asked === vector ? undefined : asked / (vector + lexical),
    leastRecency: least > recency ? least : 0,
  };
}

/** The candidates' ids by other weights, best first; equal ones in the order of the service. */
export function rankedBy(question: Question, weights: Weights): readonly string[] {
  const effective = effectiveOf(question, weights);
  return question.candidates
    .map((candidate, i) => ({ id: candidate.memoryId, i, score: scoreOf(candidate, effective) }))
    .sort((a, b) => b.score - a.score || a.i - b.i)
    .map(({ id }) => id);
}

/** `words`: the weight of words in this question where a vector spoke. */
function candidateOf({ memory_id: memoryId, explain }: SearchAnswer['hits'][number], words: number): Candidate {
  const values: Record<string, number> = {};
  let rest = 0;
  let withoutVector = false;
  for (const { signal: name, normalised, weight, contribution } of explain?.signals ?? []) {
    const signal = SIGNALS.find((known) => known.name === name);
    if (signal === undefined) {
      rest += contribution;
      continue;
    }
    // of the similarities only the best has a weight
    if (weight === 0) continue;
    if (name === 'lexical' && weight > words + TRACE) withoutVector = true;
    const counted = signal.weightOf ?? name;
    values[counted] = (values[counted] ?? 0) + Math.sign(weight) * normalised;
  }
  return { memoryId, values, rest, withoutVector };
}

function effectiveOf({ share, leastRecency }: Question, weights: Weights): Weights {
  const { vector = 0, lexical = 0, recency = 0 } = weights;
  const both = vector + lexical;
  return {
    ...weights,
    // as the ranking has it: without a weight for one of them there is nothing to share
    ...(share === undefined || vector === 0 || lexical === 0 ? {} : { vector: both * share, lexical: both * (1 - share) }),
    recency: Math.max(recency, leastRecency),
  };
}

function scoreOf({ values, rest, withoutVector }: Candidate, weights: Weights): number {
  let score = rest;
  for (const [name, value] of Object.entries(values)) {
    const weight = (weights[name] ?? 0) + (withoutVector && name === 'lexical' ? (weights['vector'] ?? 0) : 0);
    score += value * weight;
  }
  return score;
}
