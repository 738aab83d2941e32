/** Finds records that come up for questions which have nothing to do with each other (hubness, as optimised triggers make it); the screen of a search takes score from them. */
import type { Clock } from '../../domain/clock.ts';
import type { RankedHit, SignalPart } from '../../domain/ranking.ts';
import { STOP_WORDS } from '../../text/stop-words.ts';
import { canCrowd } from '../screening/origins.ts';
import { overlap, wordsOf } from '../screening/near-duplicates.ts';
import type { AnomalyPolicy } from './policy.ts';

export interface Search {
  readonly tenant: string;
  readonly query: string;
  readonly topK: number;
  /** Owner id of the reader. */
  readonly reader: string;
}

/** Learns from a search and answers its hits, some with a lower score and the reason; the order is left to `arrange`. */
export type Hubness = (hits: readonly RankedHit[], search: Search) => readonly RankedHit[];

/** Records remembered, the least recently found goes first: at most 15 MB. */
const RECORDS_KEPT = 5_000;
/** Words of a question that are compared, and how few tell nothing. */
const MAX_WORDS = 24;
const MIN_WORDS = 2;
const STEP = 0.001;

interface Seen {
  readonly atMs: number;
  readonly words: ReadonlySet<string>;
}

/**
 * For each record below user_stated that is not the reader's own, the questions are kept whose first places it reached, without the words
 * that stand in the record itself: what a trigger adds is out, and what was asked remains. So many that share next to nothing make a hub
 * (AgentPoison, arXiv 2407.12784). Counted in this process: with several behind a balancer each learns for itself.
 */
export function hubness(policy: Pick<AnomalyPolicy, 'window_minutes' | 'hubness'>, clock: Clock): Hubness {
  const { queries, related, share } = policy.hubness;
  const seenBy = new Map<string, readonly Seen[]>();

  const unrelatedQueries = (key: string, asked: ReadonlySet<string>, nowMs: number): number => {
    const recent = (seenBy.get(key) ?? []).filter(({ atMs }) => atMs > nowMs - policy.window_minutes * 60_000);
    const isNew = asked.size >= MIN_WORDS && recent.every(({ words }) => overlap(words, asked) < related);
    const all = isNew ? [...recent, { atMs: nowMs, words: asked }].slice(-queries) : recent;
    // the order of a Map is the order of use
    seenBy.delete(key);
    if (all.length > 0) seenBy.set(key, all);
    const [oldest] = seenBy.size > RECORDS_KEPT ? seenBy.keys() : [];
    if (oldest !== undefined) seenBy.delete(oldest);
    return all.length;
  };

  return (hits, { tenant, query, topK, reader }) => {
    const nowMs = clock();
    const asked = wordsOf(query).filter((word) => !STOP_WORDS.has(word));
    return hits.map((hit, i) => {
      const { record } = hit;
      if (i >= topK || !canCrowd(record, reader)) return hit;
      const own = new Set(wordsOf(record.content));
      const rest = new Set(asked.filter((word) => !own.has(word)).slice(0, MAX_WORDS));
      const count = unrelatedQueries(JSON.stringify([tenant, record.memory_id]), rest, nowMs);
      if (count < queries) return hit;
      const score = Number((Math.round((hit.score * share) / STEP) * STEP).toPrecision(12));
      const contribution = score - hit.score;
      const sentence = `It came up for ${count} questions that have nothing to do with each other`;
      const part: SignalPart = { signal: 'hubness', raw: count, normalised: 1, weight: contribution, contribution, sentence };
      return { ...hit, score, parts: [...hit.parts, part] };
    });
  };
}
