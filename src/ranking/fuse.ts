/** Orders the hits of the one query by calibrated score and explains each: pure, between the index and the service's screening. */
import type { Floors, RankedHit, SearchPage, SearchSpec } from '../domain/ranking.ts';
import { rankContext } from './context.ts';
import type { Lang } from './context.ts';
import { doubted } from './doubt.ts';
import { evidenceOf } from './evidence.ts';
import { wordsOf } from './words.ts';
import { lastSentenceOf } from '../text/long-question.ts';
import { hasHan } from '../text/script.ts';
import { FORMULAS } from './formulas/registry.ts';
import { hybrid } from './formulas/hybrid.ts';
import type { Scored } from './formulas/formula.ts';

/**
 * Ranked hits, best first, not cut to top_k (screening may still take some away). Sorted by the unclipped sum, published as
 * 0..1; equal sums by engine score, then by memory_id, so that the order never wavers. Copies stay: forgetting
 * must reach them all, and for the screen they tell how many origins say the same.
 */
export function fuse(page: SearchPage, spec: SearchSpec, lang: Lang = 'en'): RankedHit[] {
  const context = rankContext(spec, lang);
  const evidence = page.hits.map((hit) => evidenceOf(hit, context));
  // where the scale of the cosines is a guess, a score says little about whether there is an answer
  const guessed = context.similarity?.primary.vector.calibration.generic === true;
  const formula = FORMULAS[spec.profile.formula] ?? hybrid;
  const sorted = formula(evidence, context)
    .map((scored) => doubted(scored, lang))
    .sort(byScore);
  return sorted.map(({ evidence: { record, engineScore, passage, withoutVector, wordings }, total, parts }) => ({
    record,
    score: Math.min(1, Math.max(0, total)),
    engineScore,
    parts,
    ...(passage === undefined ? {} : { passage }),
    ...(wordings === undefined ? {} : { wordings }),
    ...(withoutVector || guessed || context.short ? { byWords: true as const } : {}),
  }));
}

const MOST_WORDS = 1 / 2;
/** Of a long memory the first part is looked at: this is asked only of answers that are weak anyway. */
const MAX_UNITS = 2_000;

/** What a caller gets to see of a ranking, and whether anything in it answers the question. */
export interface Relevance {
  readonly hits: readonly RankedHit[];
  /** True when no hit is relevant: nothing stored answers this. */
  readonly nothingRelevant: boolean;
}

export interface RelevanceRule {
  readonly query: string;
  /** Another wording of it. */
  readonly also?: string | undefined;
  /** The profile's. */
  readonly floor: number;
  /** The profile's, where scores lie elsewhere. */
  readonly floors?: Floors | undefined;
  /** The caller's own floor, in place of the profile's. */
  readonly minScore?: number | undefined;
  /** Hits stay although nothing is relevant, as for an explanation. */
  readonly keep?: boolean;
}

/**
 * The verdict and what the caller sees. With a `minScore` each hit below it is left out, and what remains is relevant. Without one the
 * floor judges the answer as a whole: when no hit is relevant there are none, else all stay, as the floor tells answers from silence
 * and not one hit from the next. Relevant is what reaches the floor, what holds a code or quoted phrase or half of the words of the
 * question, and what shares a word with it where no vector can judge (BM25 alone is small in a small index, and vectors of a model
 * that nobody calibrated say little). Of a memory in another script than the question's no word can be shared, and a question of several
 * sentences is near to anything: both have floors of their own (policies/ranking/assistant.yaml says what each of them loses).
 */
export function relevance(ranked: readonly RankedHit[], { query, also, floor, floors, minScore, keep = false }: RelevanceRule): Relevance {
  if (minScore !== undefined) {
    const hits = ranked.filter(({ score }) => score >= minScore);
    return { hits, nothingRelevant: hits.length === 0 };
  }
  const texts = [query, ...(also === undefined ? [] : [also])];
  const asked = texts.map(wordsOf);
  const floorOf = floorsFor(texts, floor, floors);
  // reading the words of hits costs more than comparing numbers
  const relevant =
    ranked.some((hit) => isRelevant(hit, floorOf(hit))) || ranked.some((hit) => asked.some((words) => holdsMost(hit, words)));
  const nothingRelevant = !relevant;
  return { hits: nothingRelevant && !keep ? [] : ranked, nothingRelevant };
}

/** What is taken from a hit to let others come first: it says nothing about whether the hit answers the question. */
const TAKEN: ReadonlySet<string> = new Set(['complaints', 'consensus', 'doubt', 'hubness', 'origin_share']);

/** The floor of each hit under a question's wordings: that of its script, and no higher than that of a long question. */
export function floorsFor(texts: readonly string[], floor: number, floors: Floors | undefined): (hit: RankedHit) => number {
  if (floors === undefined) return () => floor;
  const most = texts.every((text) => lastSentenceOf(text) !== undefined) ? floors.long : 1;
  const han = texts.map(hasHan);
  return (hit) => {
    const held = hasHan(hit.record.content);
    const foreign = han.every((asked) => asked !== held) && !counts(hit, 'lexical');
    return Math.min(most, foreign ? Math.min(floor, held ? floors.han : floors.latin) : floor);
  };
}

function isRelevant(hit: RankedHit, floor: number): boolean {
  const { score, parts, byWords } = hit;
  const taken = parts.reduce((sum, { signal, contribution }) => (TAKEN.has(signal) ? sum + contribution : sum), 0);
  return score - taken >= floor || counts(hit, 'exact') || (byWords === true && counts(hit, 'lexical'));
}

function counts({ parts }: RankedHit, name: string): boolean {
  return parts.some(({ signal, raw }) => signal === name && (raw ?? 0) > 0);
}

function holdsMost({ record }: RankedHit, asked: ReadonlySet<string>): boolean {
  const held = wordsOf(record.content.slice(0, MAX_UNITS));
  return asked.size > 0 && [...asked].filter((word) => held.has(word)).length >= MOST_WORDS * asked.size;
}

function byScore(a: Scored, b: Scored): number {
  if (a.total !== b.total) return b.total - a.total;
  if (a.evidence.engineScore !== b.evidence.engineScore) return b.evidence.engineScore - a.evidence.engineScore;
  return a.evidence.record.memory_id < b.evidence.record.memory_id ? -1 : 1;
}
