/** Takes a hit's `_score` apart: named clauses as reported, functions recomputed, and the vector part as what remains. Between index and fuse. */
import type { IndexHit } from '../domain/ranking.ts';
import { engineWeight } from './context.ts';
import type { KnnClause, RankContext } from './context.ts';
import { engineTotal } from './signals/catalogue.ts';
import type { Evidence } from './signals/signal.ts';

/** Name of the mark of a record that the second space alone has a vector of. */
export const OTHER_ALONE = 'other_alone';
/** Named clauses that add to `_score`; all others stand in one dis_max. */
const ADDED = ['lex', 'spk', 'date', 'exact'];
/** `_score` and clause scores are 32-bit floats: near 1,000 their steps are 6e-5, and up to ten of them are added. */
const FLOAT_SLACK = 2e-3;
/** A remainder under this share of the boost (cosine under -.99) is rounding, not a vector. */
const NO_VECTOR_SHARE = 0.005;

/**
 * The evidence of one hit. The unnamed knn clause stands in a dis_max with the clauses `passage`, `knn_<space>`, `due` and `rescue`: the
 * remainder is the best of them, so the record's own cosine is known only where it is that best one. Where the second space is not named,
 * what remains of a record without an own vector (`other_alone`) is that space's; of one with both vectors it counts as the own one's: both
 * stand on one scale.
 */
export function evidenceOf(hit: IndexHit, context: RankContext): Evidence {
  const { named, record } = hit;
  const { similarity } = context;
  const remainder = hit.score - ADDED.reduce((sum, name) => sum + (named[name] ?? 0), 0) - engineTotal(record, context);
  const lexicalBoost = context.profile.boosts['lexical'] ?? 1;
  const dateUnits = engineWeight(context, 'date');
  const base = {
    record,
    engineScore: hit.score,
    lexical: named['lex'] === undefined || lexicalBoost === 0 ? null : named['lex'] / lexicalBoost,
    ...(context.wordings < 2 ? {} : { wordings: Array.from({ length: context.wordings }, (_, i) => named[`lex_${i + 1}`] ?? null) }),
    speaker: (named['spk'] ?? 0) > 0,
    date: named['date'] === undefined || dateUnits === 0 ? null : named['date'] / dateUnits,
    exact: named['exact'] === undefined ? null : named['exact'] / (context.profile.boosts['exact'] ?? 1),
    ...(hit.passage === undefined ? {} : { passage: hit.passage }),
  };
  if (similarity === undefined)
    return { ...base, cosine: null, otherCosine: null, passageCosine: null, rescued: false, withoutVector: true };

  const { primary, other } = similarity;
  const passage = named['passage'] ?? 0;
  const due = named['due'] ?? 0;
  const rescue = named['rescue'] ?? 0;
  const isRest = remainder > Math.max(passage, due, rescue) + FLOAT_SLACK && remainder > primary.boost * NO_VECTOR_SHARE;
  const alone = isRest && named[OTHER_ALONE] !== undefined ? remainder : 0;
  const second = other === undefined ? 0 : (named[`knn_${other.vector.space}`] ?? alone);
  const own = isRest && remainder > second + FLOAT_SLACK;
  return {
    ...base,
    cosine: own ? cosineOf(remainder, primary) : null,
    otherCosine: other !== undefined && second > 0 ? cosineOf(second, other) : null,
    passageCosine: passage > 0 ? cosineOf(passage, primary) : null,
    rescued: rescue > 0,
    withoutVector: due > 0 && !own && passage === 0 && second === 0 && rescue === 0,
  };
}

function cosineOf(score: number, clause: KnnClause): number {
  return Math.min(1, Math.max(-1, (2 * (score - clause.constant)) / clause.boost - 1));
}
