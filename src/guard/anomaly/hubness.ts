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
/** Questions remembered of one record: where a usual one has a thirteenth of it and more, nothing is told apart any longer. */
const QUESTIONS_KEPT = 64;
/** Words of a question that are compared, and how few tell nothing. */
const MAX_WORDS = 24;
const MIN_WORDS = 2;
const STEP = 0.001;

interface Seen {
  readonly atMs: number;
  /** Without those of the record; undefined for a record that is not suspected, of which only the number counts. */
  readonly words: ReadonlySet<string> | undefined;
}

/**
 * For each record below user_stated that is not the reader's own, the questions are kept whose first places it reached, without the words
 * that stand in the record itself: what a trigger adds is out, and what was asked remains. So many that share next to nothing, and several
 * times as many as a usual record of the namespace came up for, make a hub (AgentPoison, arXiv 2407.12784): where a few records answer all
 * questions, each of them comes up often. Counted in this process: with several behind a balancer each learns for itself.
 */
export function hubness(policy: Pick<AnomalyPolicy, 'window_minutes' | 'hubness'>, clock: Clock): Hubness {
  const { queries, related, share, times_usual: timesUsual } = policy.hubness;
  /** By place, then by memory id. */
  const seenBy = new Map<string, Map<string, readonly Seen[]>>();
  let records = 0;

  /** How many unrelated questions are remembered of it as a suspect. */
  const note = (place: string, id: string, words: Seen['words'], nowMs: number): number => {
    const seen = seenBy.get(place) ?? new Map<string, readonly Seen[]>();
    // the order of a Map is the order of use, in both
    seenBy.delete(place);
    seenBy.set(place, seen);
    const recent = (seen.get(id) ?? []).filter(({ atMs }) => atMs > nowMs - policy.window_minutes * 60_000);
    const isNew =
      words === undefined ||
      (words.size >= MIN_WORDS && recent.every(({ words: asked }) => asked === undefined || overlap(asked, words) < related));
    const all = isNew ? [...recent, { atMs: nowMs, words }].slice(-QUESTIONS_KEPT) : recent;
    if (seen.delete(id)) records -= 1;
    if (all.length > 0) {
      seen.set(id, all);
      records += 1;
    }
    if (records > RECORDS_KEPT) forgetOldest();
    return all.filter(({ words: asked }) => asked !== undefined).length;
  };

  const forgetOldest = (): void => {
    const [place, seen] = [...seenBy][0] ?? [];
    const [oldest] = seen?.keys() ?? [];
    if (place === undefined || seen === undefined) return;
    if (oldest !== undefined && seen.delete(oldest)) records -= 1;
    if (seen.size === 0) seenBy.delete(place);
  };

  /** Questions that the middle one of the other records came up for. */
  const usual = (place: string, id: string): number => {
    const counts = [...(seenBy.get(place) ?? [])].flatMap(([other, seen]) => (other === id ? [] : [seen.length]));
    return counts.sort((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
  };

  return (hits, { tenant, query, topK, reader }) => {
    const nowMs = clock();
    const asked = wordsOf(query).filter((word) => !STOP_WORDS.has(word));
    return hits.map((hit, i) => {
      const { record } = hit;
      if (i >= topK) return hit;
      const place = JSON.stringify([tenant, record.namespace]);
      if (!canCrowd(record, reader)) {
        note(place, record.memory_id, undefined, nowMs);
        return hit;
      }
      const own = new Set(wordsOf(record.content));
      const rest = new Set(asked.filter((word) => !own.has(word)).slice(0, MAX_WORDS));
      const count = note(place, record.memory_id, rest, nowMs);
      if (count < queries || count < timesUsual * usual(place, record.memory_id)) return hit;
      const score = Number((Math.round((hit.score * share) / STEP) * STEP).toPrecision(12));
      const contribution = score - hit.score;
      const sentence = `It came up for ${count} questions that have nothing to do with each other`;
      const part: SignalPart = { signal: 'hubness', raw: count, normalised: 1, weight: contribution, contribution, sentence };
      return { ...hit, score, parts: [...hit.parts, part] };
    });
  };
}
