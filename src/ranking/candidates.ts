/** How many hits the one query brings for a search; the query builder asks for them, and memory/rank tells by it whether there are more. Pure. */
import type { SearchSpec } from '../domain/ranking.ts';

/** Several versions of a memory may be among the candidates; one of them is left. */
const VERSIONS_A_MEMORY = 3;
/** Earlier versions have no vectors in the index (memory/past-vectors gives them theirs), so what is meant stands lower among the candidates. */
const MEMORIES_THEN = 20;

export function candidates({ profile, topK, asOf, only }: Pick<SearchSpec, 'profile' | 'topK' | 'asOf' | 'only'>): number {
  if (only !== undefined) return only.length;
  if (asOf !== undefined) return VERSIONS_A_MEMORY * Math.max(MEMORIES_THEN, profile.candidates, topK);
  return Math.max(profile.candidates, 2 * topK);
}
