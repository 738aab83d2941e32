/** The one hybrid query: a search specification and its mandatory filter become one Elasticsearch request. Pure; memory-index sends it. */
import type { SearchSpec } from '../domain/ranking.ts';
import type { QueryClause } from '../domain/scope.ts';
import { candidates } from '../ranking/candidates.ts';
import { rankContext } from '../ranking/context.ts';
import { engineFunctions } from '../ranking/signals/catalogue.ts';
import { wordings } from '../ranking/wordings.ts';
import { heldThen } from './as-of.ts';
import { filterClauses } from './filter.ts';
import { HIT_FIELDS } from './query-fields.ts';
import { dateClauses, exactClauses, lexicalClauses, speakerClauses, wordsOf } from './query-lexical.ts';
import { vectorClauses } from './query-vector.ts';

/**
 * The request for `client.search`: a body, and `include_named_queries_score`, which Elasticsearch takes as a query parameter and the
 * client puts there. `scopeFilter` (tenant, namespaces, doc_type, status, expiry) goes into the bool filter and into every knn filter,
 * with the caller's own conditions; of trust, what a record is worth to `reader` (an owner). Everything is added up (boost_mode and score_mode sum), so ranking/evidence can take a
 * `_score` apart again. Never contains `now`. Measured in retrieval.md, the one query that won.
 */
export function buildSearchBody(spec: SearchSpec, scopeFilter: readonly QueryClause[], reader: string): Record<string, unknown> {
  const context = rankContext(spec);
  const words = wordsOf(wordings(spec));
  const filter = [...scopeFilter, ...filterClauses(spec.filter, reader), ...(spec.asOf === undefined ? [] : heldThen(spec.asOf))];
  const bool = {
    // not inside knn: who the nearest are does not change
    filter: spec.only === undefined ? filter : [...filter, { terms: { memory_id: [...spec.only] } }],
    should: [
      ...lexicalClauses(words, context, spec.summaries !== false),
      ...vectorClauses(words, context, { filter, apart: spec.explain === true || spec.asOf !== undefined }),
      ...speakerClauses(words, context),
      ...dateClauses(context),
      ...exactClauses(context),
    ],
    // Without it the filter alone matches, and every record of the namespace would be scored. It also makes a query without clauses find nothing.
    minimum_should_match: 1,
  };
  const functions = engineFunctions(context);
  return {
    size: candidates(spec),
    track_total_hits: false,
    include_named_queries_score: true,
    _source: HIT_FIELDS,
    query: functions.length === 0 ? { bool } : { function_score: { query: { bool }, functions, score_mode: 'sum', boost_mode: 'sum' } },
  };
}
