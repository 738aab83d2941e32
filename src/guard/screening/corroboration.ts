/** Leaves only what may influence an answer by itself: confirmed by a person, or said by two origins that have nothing to do with each other; a step of the screen of a search. */
import type { HitRecord, RankedHit, SignalPart } from '../../domain/ranking.ts';
import { confirmedFor } from '../confirmation.ts';
import { claimKey, wordsOf } from './near-duplicates.ts';
import { principalsOf } from './origins.ts';

const ORIGINS = 2;

/**
 * Hits in their order, each with a signal of no weight that says why it is here. Two hits say the same when they do so in the same words
 * about the same subject and day, wherever they stand: what merely resembles another claim (another payee, another number) is no
 * corroboration. Origins are principals; copies, tokens and sources of one count once. `reader` is an owner id: what others confirmed of
 * their own words is not confirmed for them.
 */
export function influential(hits: readonly RankedHit[], reader: string): readonly RankedHit[] {
  const origins = new Map<string, Set<string>>();
  for (const { record } of hits) {
    const key = keyOf(record);
    const known = origins.get(key) ?? new Set();
    for (const principal of principalsOf(record)) known.add(principal);
    origins.set(key, known);
  }
  return hits.flatMap((hit) => {
    const count = origins.get(keyOf(hit.record))?.size ?? 0;
    const confirmed = confirmedFor(hit.record, reader);
    if (!confirmed && count < ORIGINS) return [];
    const sentence = confirmed ? 'A person has confirmed this' : `${count} origins say this in the same words`;
    const part: SignalPart = { signal: 'corroboration', raw: count, normalised: 1, weight: 0, contribution: 0, sentence };
    return [{ ...hit, parts: [...hit.parts, part] }];
  });
}

function keyOf({ title, content, subject, occurred_at, status }: HitRecord): string {
  const words = wordsOf(title === undefined ? content : `${title}\n${content}`);
  // what no longer holds speaks for nothing that does
  const holds = status === 'active' || status === 'conflict';
  return JSON.stringify([holds, subject?.normalize('NFKC').toLowerCase() ?? null, occurred_at?.slice(0, 10) ?? null, claimKey(words)]);
}
