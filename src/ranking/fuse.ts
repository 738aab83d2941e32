/** Orders the hits of the one query by calibrated score and explains each: pure, between the index and the service's screening. */
import { DEFAULT_STATUSES } from '../domain/memory.ts';
import type { RankedHit, SearchPage, SearchSpec } from '../domain/ranking.ts';
import { rankContext } from './context.ts';
import type { Lang } from './context.ts';
import { evidenceOf } from './evidence.ts';
import { FORMULAS } from './formulas/registry.ts';
import { hybrid } from './formulas/hybrid.ts';
import type { Scored } from './formulas/formula.ts';

/**
 * Ranked hits, best first, not cut to top_k (screening may still take some away). Sorted by the unclipped sum, published as
 * 0..1; equal sums by engine score, then by memory_id, so that the order never wavers. Of copies one stays, unless `keepCopies`: forgetting
 * must reach them all.
 */
export function fuse(page: SearchPage, spec: SearchSpec, lang: Lang = 'en', keepCopies = false): RankedHit[] {
  const context = rankContext(spec, lang);
  const evidence = page.hits.map((hit) => evidenceOf(hit, context));
  const formula = FORMULAS[spec.profile.formula] ?? hybrid;
  const sorted = [...formula(evidence, context)].sort(byScore);
  return (keepCopies ? sorted : collapse(sorted)).map(({ evidence: { record, engineScore, passage }, total, parts }) => ({
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

/**
 * One hit for equal texts about one subject and day in one namespace (said again on another day, they are two events): what still holds
 * before what does not, then the most trusted, of those the best, so that a copy from a web page never stands in for the user's own words.
 */
function collapse(sorted: readonly Scored[]): readonly Scored[] {
  const kept = new Map<string, Scored>();
  const keyOf = ({ evidence: { record } }: Scored): string =>
    JSON.stringify([record.namespace, record.subject ?? null, record.fingerprint, record.occurred_at?.slice(0, 10) ?? null]);
  for (const scored of sorted) {
    const earlier = kept.get(keyOf(scored));
    if (earlier === undefined || standing(scored) > standing(earlier)) kept.set(keyOf(scored), scored);
  }
  return sorted.filter((scored) => kept.get(keyOf(scored)) === scored);
}

/** Searched by default counts more than any trust (0 to 5). */
function standing({ evidence: { record } }: Scored): number {
  return (DEFAULT_STATUSES.includes(record.status) ? 10 : 0) + record.trust_tier;
}
