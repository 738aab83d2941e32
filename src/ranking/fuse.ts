/** Orders the hits of the one query by calibrated score and explains each: pure, between the index and the service's screening. */
import type { RankedHit, SearchPage, SearchSpec } from '../domain/ranking.ts';
import { rankContext } from './context.ts';
import type { Lang } from './context.ts';
import { evidenceOf } from './evidence.ts';
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
  const formula = FORMULAS[spec.profile.formula] ?? hybrid;
  const sorted = [...formula(evidence, context)].sort(byScore);
  return sorted.map(({ evidence: { record, engineScore, passage }, total, parts }) => ({
    record,
    score: Math.min(1, Math.max(0, total)),
    engineScore,
    parts,
    ...(passage === undefined ? {} : { passage }),
  }));
}

/** What a caller gets to see of a ranking, and whether anything in it answers the question. */
export interface Relevance {
  readonly hits: readonly RankedHit[];
  /** True when no hit reaches the floor: nothing stored answers this. */
  readonly nothingRelevant: boolean;
}

/**
 * Leaves out hits below the caller's `minScore`; nothing is relevant when none of what remains reaches `minScore` or, without one,
 * the profile's floor. Hits between 0 and the floor stay: the caller sees their scores beside the verdict.
 */
export function relevance(ranked: readonly RankedHit[], floor: number, minScore?: number): Relevance {
  const hits = minScore === undefined ? ranked : ranked.filter(({ score }) => score >= minScore);
  return { hits, nothingRelevant: !hits.some(({ score }) => score >= (minScore ?? floor)) };
}

function byScore(a: Scored, b: Scored): number {
  if (a.total !== b.total) return b.total - a.total;
  if (a.evidence.engineScore !== b.evidence.engineScore) return b.evidence.engineScore - a.evidence.engineScore;
  return a.evidence.record.memory_id < b.evidence.record.memory_id ? -1 : 1;
}
