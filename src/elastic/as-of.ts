/** What the memory held at a time: of the versions that a hybrid query over heads and copies brings, the ones that stood then. Between query builder and index. */
import { isoTime } from '../domain/clock.ts';
import type { AsOf, HitRecord, IndexHit, SearchSpec } from '../domain/ranking.ts';
import type { QueryClause, Scope } from '../domain/scope.ts';
import { rankContext } from '../ranking/context.ts';
import { engineTotal } from '../ranking/signals/catalogue.ts';
import { filterClauses } from './filter.ts';
import { HIT_FIELDS } from './query-fields.ts';

/** Name of the clause that says whether a version fits what the caller may see and asks for. */
export const FITS = 'fits';

/**
 * Filters for candidates: made by then, and not ended before. A head may have begun later: it stands for an earlier version of the same
 * words, and brings the vector that copies do not have.
 */
export function heldThen({ ms }: AsOf): readonly QueryClause[] {
  const then = isoTime(ms);
  const open = { bool: { must_not: [{ exists: { field: 'valid_to' } }] } };
  return [
    { range: { created_at: { lte: then } } },
    { bool: { should: [open, { range: { valid_to: { gt: then } } }], minimum_should_match: 1 } },
  ];
}

/**
 * The search for the version of each memory that stood at the time: the last one that had begun. What a copy says of its own end is not
 * asked: it may be of an attempt that failed. `matched_queries` tells whether it fits; one that does not takes no other's place.
 */
export function versionsThen({ ms }: AsOf, spec: SearchSpec, scope: Scope, memoryIds: readonly string[]): Record<string, unknown> {
  return {
    size: memoryIds.length,
    track_total_hits: false,
    _source: HIT_FIELDS,
    query: {
      bool: {
        filter: [
          { term: { tenant: scope.tenant } },
          { terms: { memory_id: [...memoryIds] } },
          { range: { valid_from: { lte: isoTime(ms) } } },
        ],
        should: [{ bool: { _name: FITS, filter: [...scope.filter, ...filterClauses(spec.filter, scope.principal.owner)] } }],
      },
    },
    collapse: { field: 'memory_id' },
    sort: [{ version: 'desc' }],
  };
}

/**
 * The page with each memory as it stood then, under the best score that any version with the very same words got. One whose words of then
 * brought nothing is due: its vector, if one is made for it, may still speak for it. Additive signals are those of the version shown.
 */
export function pageThen(found: readonly IndexHit[], stood: readonly HitRecord[], spec: SearchSpec): readonly IndexHit[] {
  const context = rankContext(spec);
  const { similarity } = context;
  const hits = stood.flatMap((record) => {
    const worth = engineTotal(record, context);
    const same = found.filter((hit) => hit.record.memory_id === record.memory_id && saysTheSame(hit.record, record));
    const [best] = same.map((hit) => ({ ...hit, score: hit.score - engineTotal(hit.record, context) })).sort((a, b) => b.score - a.score);
    if (best !== undefined) return [{ ...best, record, score: best.score + worth }];
    return similarity === undefined ? [] : [{ record, score: similarity.due + worth, named: { due: similarity.due } }];
  });
  return hits.sort((a, b) => b.score - a.score);
}

const saysTheSame = (a: HitRecord, b: HitRecord): boolean => a.content === b.content && a.title === b.title && a.subject === b.subject;
