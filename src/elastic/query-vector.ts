/** The vector clauses of the one query: the unnamed knn clause and those that may stand in for it. Pure. */
import type { QueryClause } from '../domain/scope.ts';
import type { KnnClause, RankContext } from '../ranking/context.ts';
import { OTHER_ALONE } from '../ranking/evidence.ts';
import { PASSAGE_INNER_HITS } from './query-fields.ts';
import { anyExact, anyWord } from './query-lexical.ts';
import type { QueryWords } from './query-lexical.ts';
import { shortened } from './record-json.ts';

export interface VectorOptions {
  readonly filter: readonly QueryClause[];
  /** True: what a record gets by its vector in the second space is named, whatever its own vector gives. */
  readonly apart: boolean;
}

/**
 * One clause: the best of the record's own vector (unnamed, so that it is what remains of `_score`), its best passage (`passage`), its
 * vector in the second space (`knn_<space>`, where it is told apart), the stand-in of a vector that is still due (`due`) and that of one
 * which must not count against a record with the question's very code (`rescue`). dis_max, because they answer the same question: added
 * up, a record with passages or two vectors would stand above any other. The scope's filter is inside each knn clause; as a post-filter it
 * would leave nothing of a small namespace among large ones.
 */
export function vectorClauses(words: readonly QueryWords[], context: RankContext, { filter, apart }: VectorOptions): QueryClause[] {
  const { similarity, passages, past } = context;
  if (similarity === undefined) return [];
  const { primary, other, due, rescue } = similarity;
  const { field, space } = primary.vector;
  const queries = [
    knn(field, primary, filter),
    ...(passages ? [passageClause(primary, filter)] : []),
    ...(other === undefined ? [] : [otherClause(other, field, { filter, apart: apart || !isOnScale(other, primary) })]),
    ...dueClause(words, past ? without(field) : { term: { spaces_due: space } }, due),
    ...(rescue === undefined ? [] : [{ constant_score: { _name: 'rescue', filter: anyExact(context), boost: rescue.score } }]),
  ];
  return queries.length === 1 ? queries : [{ dis_max: { queries } }];
}

function knn(field: string, { vector, boost, neighbours }: KnnClause, filter: readonly QueryClause[]): QueryClause {
  return { knn: { field, query_vector: Array.from(vector.vector, shortened), k: neighbours, num_candidates: neighbours, filter, boost } };
}

function passageClause(primary: KnnClause, filter: readonly QueryClause[]): QueryClause {
  return {
    nested: {
      _name: 'passage',
      path: 'passages',
      score_mode: 'max',
      query: knn(`passages.${primary.vector.field}`, primary, filter),
      inner_hits: { name: PASSAGE_INNER_HITS, size: 1, _source: ['passages.text'] },
    },
  };
}

/**
 * Only for records the primary space does not serve well: without a vector there (marked), or not in Latin script alone. The local zh
 * model rates Latin texts about .2 higher than Chinese ones, so it must not judge what the first space can. A named knn clause is searched
 * once more when the hits are fetched (8.19.9, 20,000 records, English questions: a fifth of the engine's time), and mostly says what
 * remains of `_score` anyway.
 */
function otherClause(other: KnnClause, primaryField: string, { filter, apart }: VectorOptions): QueryClause {
  const alone = { bool: { ...(apart ? {} : { _name: OTHER_ALONE }), must_not: [{ exists: { field: primaryField } }] } };
  const unserved = { bool: { should: [alone, { bool: { must_not: [{ term: { language: 'en' } }] } }], minimum_should_match: 1 } };
  const clause = knn(other.vector.field, other, [...filter, unserved]);
  const lift = other.constant > 0 ? [{ match_all: { boost: other.constant } }] : [];
  return { bool: { ...(apart ? { _name: `knn_${other.vector.space}` } : {}), must: [clause, ...lift] } };
}

/** The steps of `boost` and weights are 1e-4. */
const SCALE_SLACK = 1e-2;

/** Does a calibrated similarity stand at the same score in both? Then it does not matter in which of them a record got it. */
function isOnScale(other: KnnClause, primary: KnnClause): boolean {
  const span = ({ boost, vector }: KnnClause): number => boost * vector.calibration.scale;
  return Math.abs(span(other) - span(primary)) < SCALE_SLACK;
}

/** A record just written has no vector yet; without this it would stand below every record that has one, however well its words fit. */
function dueClause(words: readonly QueryWords[], isDue: QueryClause, boost: number): QueryClause[] {
  const shared = anyWord(words);
  if (shared === undefined) return [];
  return [{ constant_score: { _name: 'due', filter: { bool: { filter: [isDue, shared] } }, boost } }];
}

/** The copy of an earlier version has no vector and is due for none. */
const without = (field: string): QueryClause => ({ bool: { must_not: [{ exists: { field } }] } });
