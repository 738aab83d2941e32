/** What one search ranks by, worked out once from its specification: the query builder and fuse both read it, so engine and service never disagree. */
import type { QueryVector, RankingProfile, SearchSpec } from '../domain/ranking.ts';
import type { ExactItem } from '../text/exact.ts';
import { capitalisedWords } from '../text/query-terms.ts';
import { lastSentenceOf } from '../text/long-question.ts';
import { hasHan } from '../text/script.ts';
import type { DateRanges } from './dates/collector.ts';
import { holdsNow } from './holds-now.ts';
import { datesIn, distinct, exactIn, wordings } from './wordings.ts';

export type Lang = 'en' | 'zh';

/** A knn clause of the one query: score = constant + boost x (1 + cosine) / 2 (Elasticsearch, `cosine` similarity). */
export interface KnnClause {
  readonly vector: QueryVector;
  readonly boost: number;
  readonly constant: number;
  /** k and num_candidates. */
  readonly neighbours: number;
}

export interface Similarity {
  /** The unnamed clause; constant 0. */
  readonly primary: KnnClause;
  /** The clause `knn_<space>`, on the primary's scale. */
  readonly other: KnnClause | undefined;
  /** Score of the clause `due`: what a record stands at while its vector is not made yet. */
  readonly due: number;
  /** What a record that holds something of the question to the letter counts as, at least; undefined when nothing has to be. */
  readonly rescue: Rescue | undefined;
}

/** The stand-in of a vector that is outside the k nearest or tells nothing: a calibrated similarity, and its score in the engine. */
export interface Rescue {
  readonly similarity: number;
  readonly score: number;
}

export interface RankContext {
  readonly profile: RankingProfile;
  /** Weights by signal after the rules for short questions and for questions about the latest. */
  readonly weights: Readonly<Record<string, number>>;
  /** Engine units of one whole point of calibrated score: turns the weight of an additive signal into its boost. */
  readonly unit: number;
  readonly askedAtMs: number;
  readonly taskId: string | undefined;
  readonly taskType: string | undefined;
  readonly dates: DateRanges;
  /** A Chinese question of at most four characters: its vector tells little. */
  readonly short: boolean;
  /** How often the question is worded. */
  readonly wordings: number;
  /** What has to be found to the letter; [] when that has no weight. */
  readonly exact: readonly ExactItem[];
  /** The same by wording. */
  readonly exactBy: readonly (readonly ExactItem[])[];
  /** Undefined when there is no vector to search with, or when the caller gave vectors no weight. */
  readonly similarity: Similarity | undefined;
  readonly passages: boolean;
  /** True when earlier versions are searched, which have no vectors. */
  readonly past: boolean;
  /** The words of each wording of a question for what holds now; none where it asks what was. */
  readonly holdsNow: readonly ReadonlySet<string>[];
  /** Language of the sentences in explanations. */
  readonly lang: Lang;
  /** False: nobody wants them. */
  readonly told: boolean;
}

/** k and num_candidates of a profile that names none (policies/ranking/assistant.yaml says why). */
const NEIGHBOURS = 1_000;

/** Characters up to which a Chinese question is short: retrieval.md, hit@5 1.000 for 1 to 4 characters with the short rule, .65-.87 without. */
const SHORT_QUESTION_CHARS = 4;

/** A search asks twice, for its query and for its hits; reading dates and codes out of a question is most of the work. */
const contexts = new WeakMap<SearchSpec, RankContext>();

/** The ranking context of a specification. Pure; the same specification always gives the same context. */
export function rankContext(spec: SearchSpec, lang: Lang = 'en'): RankContext {
  const known = contexts.get(spec);
  if (known?.lang === lang) return known;
  const context = contextOf(spec, lang);
  contexts.set(spec, context);
  return context;
}

function contextOf(spec: SearchSpec, lang: Lang): RankContext {
  const { profile } = spec;
  const texts = wordings(spec);
  const dates = datesIn(texts, spec.askedAtMs);
  const short = texts.every(isShortChinese);
  const exactBy = (profile.weights['exact'] ?? 0) > 0 && (profile.boosts['exact'] ?? 0) > 0 ? exactIn(texts) : [];
  const exact = distinct(exactBy.flat());
  const similarity = (profile.weights['vector'] ?? 0) > 0 ? similarityOf(spec, short, exact.length > 0) : undefined;
  return {
    profile,
    weights: effectiveWeights(profile, shareOf(profile, texts, short), dates.recent),
    unit: profile.boosts['unit'] ?? 0,
    askedAtMs: spec.askedAtMs,
    taskId: spec.taskId,
    taskType: spec.taskType,
    dates,
    short,
    wordings: texts.length,
    exact,
    exactBy,
    similarity,
    passages: spec.passages && similarity !== undefined,
    past: spec.asOf !== undefined,
    holdsNow: (profile.weights['newest'] ?? 0) > 0 ? holdsNow(texts) : [],
    lang,
    told: spec.explain !== false,
  };
}

/** Engine boost of a signal: weight x unit, rounded so that queries stay readable and equal on both sides. */
export function engineWeight(context: RankContext, signal: string): number {
  return rounded((context.weights[signal] ?? 0) * context.unit);
}

/** Is this a Chinese question of at most four letters or digits? */
export function isShortChinese(query: string): boolean {
  if (!hasHan(query)) return false;
  let count = 0;
  for (const _ of query.matchAll(/[\p{L}\p{N}]/gu)) if (++count > SHORT_QUESTION_CHARS) return false;
  return true;
}

/** The vector's share of vector + lexical where the form of the question decides it. */
function shareOf(profile: RankingProfile, texts: readonly string[], short: boolean): number | undefined {
  if (short) return profile.boosts['short_vector_share'];
  const long = texts.every((text) => lastSentenceOf(text) !== undefined) ? profile.boosts['long_vector_share'] : undefined;
  if (long !== undefined) return long;
  const share = profile.boosts['named_vector_share'];
  const named = !texts.some(hasHan) && texts.some((text) => capitalisedWords(text).length > 0);
  return share !== undefined && named ? share : undefined;
}

function effectiveWeights(profile: RankingProfile, share: number | undefined, recent: boolean): Readonly<Record<string, number>> {
  const weights: Record<string, number> = { ...profile.weights };
  const { vector = 0, lexical = 0, recency = 0 } = profile.weights;
  if (share !== undefined && vector > 0 && lexical > 0) {
    weights['vector'] = rounded((vector + lexical) * share);
    weights['lexical'] = rounded((vector + lexical) * (1 - share));
  }
  if (recent) weights['recency'] = Math.max(recency, profile.boosts['recency_asked'] ?? 0);
  return weights;
}

/**
 * The knn clauses. A second space answers for records the first does not serve (Chinese memories under an English question), so its
 * clause is laid on the first one's scale: calibrated 0 and 1 stand at the same engine score in both, as far as no negative constant is
 * needed. Without that a record of the second space alone would stand hundreds of units under any record of the first.
 * Bench run, English questions to Chinese memories among as many English ones (memorybank_x, dev): candidate order recall@5 / @20
 * .681 / .857 against .000 / .057 with the two clauses at their own boosts, added up.
 */
function similarityOf(spec: SearchSpec, short: boolean, exact: boolean): Similarity | undefined {
  const [first, second] = spec.vectors;
  if (first === undefined) return undefined;
  const { boosts } = spec.profile;
  const base = short && boosts['short_knn'] !== undefined ? boosts['short_knn'] : first.boost;
  const boost = rounded(base * (boosts['vector'] ?? 1));
  if (boost === 0) return undefined;
  const { offset, scale } = first.calibration;
  const neighbours = boosts['neighbours'] ?? NEIGHBOURS;
  const at = (v: number): number => (boost * (1 + offset + scale * v)) / 2;
  const primary = { vector: first, boost, constant: 0, neighbours };
  const rescue = exact ? boosts['rescue_similarity'] : undefined;
  return {
    primary,
    other: second === undefined ? undefined : alignedTo(at(0), primary, second),
    due: rounded(at(boosts['due_similarity'] ?? 0)),
    rescue: rescue === undefined ? undefined : { similarity: rescue, score: rounded(at(rescue)) },
  };
}

function alignedTo(zero: number, primary: KnnClause, second: QueryVector): KnnClause {
  const first = primary.vector;
  const ratio = Math.min(
    first.calibration.scale / second.calibration.scale,
    (1 + first.calibration.offset) / (1 + second.calibration.offset),
  );
  const boost = rounded(primary.boost * ratio);
  const constant = Math.max(0, rounded(zero - (boost * (1 + second.calibration.offset)) / 2));
  return { ...primary, vector: second, boost, constant };
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
