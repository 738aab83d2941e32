/** The rankings a quality run compares: the default, what it is made of, the seeds, and the default without each signal. Pure. */
import type { RankingProfile } from '../../src/domain/ranking.ts';

/** One ranking: what is laid over the search request. */
export interface RankingRow {
  readonly name: string;
  readonly request: Readonly<Record<string, unknown>>;
}

export const DEFAULT_ROW = 'default';
export const BM25_ROW = 'BM25 only';
export const VECTOR_ROW = 'vector only';
export const RRF_ROW = 'RRF of the two';
/** Hits a search can bring at most; recall@20 needs them all. */
export const DEEP_TOP_K = 20;
/** What a client that says nothing gets. */
const USUAL_TOP_K = 5;

/**
 * Rows in the order they are asked. `ablation` false leaves the default alone. RRF is no request of its own: rrf() makes it of BM25_ROW
 * and VECTOR_ROW.
 */
export function rankingRows(profileName: string, profiles: ReadonlyMap<string, RankingProfile>, ablation: boolean): RankingRow[] {
  const profile = profiles.get(profileName);
  if (profile === undefined) throw new Error(`there is no ranking profile ${profileName}; there are ${[...profiles.keys()].join(', ')}`);
  const base = { profile: profileName, top_k: DEEP_TOP_K };
  const first = { name: DEFAULT_ROW, request: base };
  if (!ablation) return [first];
  const signals = Object.keys(profile.weights).filter((name) => (profile.weights[name] ?? 0) > 0);
  const only = (kept: string): Record<string, number> =>
    Object.fromEntries(signals.filter((name) => name !== kept).map((name) => [name, 0]));
  return [
    first,
    { name: `default, top_k ${USUAL_TOP_K}`, request: { ...base, top_k: USUAL_TOP_K } },
    { name: BM25_ROW, request: { ...base, weights: only('lexical') } },
    { name: VECTOR_ROW, request: { ...base, weights: only('vector') } },
    ...[...profiles.keys()]
      .filter((name) => name.startsWith('seed-'))
      .map((name) => ({ name: `profile ${name}`, request: { ...base, profile: name } })),
    ...signals.map((signal) => ({ name: `without ${signal}`, request: { ...base, weights: { [signal]: 0 } } })),
  ];
}

/** 60 as in the paper: Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion. */
const RRF_K = 60;

/** Reciprocal rank fusion with equal weights; what only one list holds stands at that one's part. Ties by first appearance. */
export function rrf(lists: readonly (readonly string[])[], k = RRF_K): string[] {
  const scores = new Map<string, number>();
  for (const list of lists) for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (k + rank + 1));
  return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id);
}
