/** Arranges the hits of a search by trust: near-duplicates take one place, one origin does not fill the answer, the less trusted does not overrule. */
import { DEFAULT_STATUSES } from '../../domain/memory.ts';
import type { HitRecord, RankedHit, SignalPart } from '../../domain/ranking.ts';
import { standingFor } from '../confirmation.ts';
import { canCrowd, originKey, principalsOf } from './origins.ts';
import { claimKey, overlap, shinglesOf, signatureOf, wordsOf } from './near-duplicates.ts';

export interface Arrangement {
  /** How many hits the caller wants. */
  readonly topK: number;
  /** Owner id of the reader. */
  readonly reader: string;
}

/** What is left of the score of a hit that only adds to a crowd. */
const CROWD_SHARE = 0.75;
/** Overlap of three-word runs from which two texts of one origin count as variants: one word of twelve or more has changed. */
const VARIANT_OVERLAP = 0.6;
const VARIANT_CHARS = 600;
/** Scores are shown on this grid. */
const STEP = 0.001;

/**
 * Hits best first, some with a lower score and one more signal that says why. Nothing is left out but near-duplicates, of which the most
 * trusted stays. Contradictions are told by distinct origins and never settled by numbers alone: a majority of origins decides between
 * equally trusted claims.
 */
export function arrange(hits: readonly RankedHit[], { topK, reader }: Arrangement): readonly RankedHit[] {
  const distinct = collapse(hits, reader);
  const arranged = thinned(contested(distinct, hits, reader), topK, reader);
  // unchanged hits keep their order, which the engine's finer scores decided
  return arranged.every((hit, i) => hit === hits[i]) ? arranged : [...arranged].sort((a, b) => b.score - a.score);
}

const textOf = ({ title, content }: HitRecord): string => (title === undefined ? content : `${title}\n${content}`);
const claimOf = (record: HitRecord): string => claimKey(wordsOf(textOf(record)));

/** Near-duplicates about one subject and day in one namespace: the one that holds before one that no longer does, then the most trusted, then the best. */
function collapse(hits: readonly RankedHit[], reader: string): readonly RankedHit[] {
  const alike = grouped(hits, ({ record }) => signatureOf(textOf(record))).filter((group) => group.length > 1);
  const dropped = new Set<RankedHit>();
  for (const group of alike) {
    for (const same of grouped(group, ({ record }) => JSON.stringify([placeOf(record), claimOf(record)]))) {
      const best = Math.max(...same.map(({ record }) => standing(record, reader)));
      const kept = same.find(({ record }) => standing(record, reader) === best);
      for (const hit of same) if (hit !== kept) dropped.add(hit);
    }
  }
  return dropped.size === 0 ? hits : hits.filter((hit) => !dropped.has(hit));
}

/** Whether one of two hits would give its place to the other: nearly the same text about one subject and day in one namespace. */
export function isCopy(a: HitRecord, b: HitRecord): boolean {
  if (signatureOf(textOf(a)) !== signatureOf(textOf(b)) || claimOf(a) !== claimOf(b)) return false;
  return JSON.stringify(placeOf(a)) === JSON.stringify(placeOf(b));
}

const placeOf = ({ namespace, subject, occurred_at }: HitRecord): readonly unknown[] => [
  namespace,
  subject ?? null,
  occurred_at?.slice(0, 10) ?? null,
];

function standing(record: HitRecord, reader: string): number {
  return (DEFAULT_STATUSES.includes(record.status) ? 10 : 0) + standingFor(record, reader).tier;
}

/**
 * Flags hits that hold different things of one single-valued slot. The less trusted one comes after the more trusted; of equally trusted ones
 * what more than half of the origins say comes first, and without such a majority none is picked (guard.md, Read). Trusted as far as the
 * reader is concerned: nobody's own confirmation decides for others (G12).
 */
function contested(hits: readonly RankedHit[], withCopies: readonly RankedHit[], reader: string): readonly RankedHit[] {
  const tierOf = ({ record }: RankedHit): number => standingFor(record, reader).tier;
  const changed = new Map<RankedHit, RankedHit>();
  const inSlots = hits.filter(({ record }) => slotOf(record) !== undefined);
  for (const slot of grouped(inSlots, ({ record }) => slotOf(record) ?? '')) {
    const claims = grouped(slot, ({ record }) => claimOf(record));
    if (claims.length < 2) continue;
    const originsOf = witnessesIn(withCopies, slotOf((slot[0] as RankedHit).record));
    const all = new Set(claims.flatMap((claim) => [...originsOf(claim)]));
    const agreed = claims.find((claim) => {
      const mine = originsOf(claim);
      return mine.size > 1 && mine.size > all.size / 2;
    });
    for (const claim of claims) {
      const mine = originsOf(claim);
      // a claim is as trusted as its best witness
      const tier = Math.max(...claim.map(tierOf));
      // as trusted, and said by most origins: copies of one are no majority
      const agreedAbove = claim === agreed ? [] : (agreed ?? []).filter((hit) => tierOf(hit) === tier);
      const above = [...slot.filter((hit) => tierOf(hit) > tier), ...agreedAbove];
      for (const hit of claim) {
        const cap = Math.min(...above.map(({ score }) => score - STEP));
        const score = Math.max(0, Math.min(hit.score, onGrid(cap)));
        const share = mine.size / all.size;
        const part: SignalPart = {
          signal: 'consensus',
          raw: mine.size,
          normalised: share,
          weight: (score - hit.score) / share,
          contribution: score - hit.score,
          sentence: `Memories of this subject and topic differ; ${mine.size} of ${all.size} origins say this`,
        };
        changed.set(hit, { ...hit, score, parts: [...hit.parts, part] });
      }
    }
  }
  return changed.size === 0 ? hits : hits.map((hit) => changed.get(hit) ?? hit);
}

/** Who says a claim of a slot: a copy that gave its place to another still says the same. */
function witnessesIn(hits: readonly RankedHit[], slot: string | undefined): (claim: readonly RankedHit[]) => ReadonlySet<string> {
  const witnesses = new Map<string, Set<string>>();
  for (const { record } of hits) {
    if (slotOf(record) !== slot) continue;
    const known = witnesses.get(claimOf(record)) ?? new Set();
    for (const principal of principalsOf(record)) known.add(principal);
    witnesses.set(claimOf(record), known);
  }
  return ([first]) => (first === undefined ? undefined : witnesses.get(claimOf(first.record))) ?? new Set();
}

/** Subject and topic of a preference, fact or constraint have one value (product.md, slots). */
function slotOf({ namespace, subject, topic, kind, status }: HitRecord): string | undefined {
  if (subject === undefined || topic === undefined || !DEFAULT_STATUSES.includes(status)) return undefined;
  if (kind !== 'preference' && kind !== 'fact' && kind !== 'constraint') return undefined;
  return JSON.stringify([namespace, subject.normalize('NFKC').toLowerCase(), topic.normalize('NFKC').toLowerCase()]);
}

/**
 * Takes a quarter of the score from hits of one origin beyond half of the wanted ones, and from those that vary one of its texts, where
 * another hit then comes before them. Looks only at records that can crowd.
 */
function thinned(hits: readonly RankedHit[], topK: number, reader: string): readonly RankedHit[] {
  const room = Math.max(1, Math.floor(topK / 2));
  const surplus = new Map<RankedHit, string>();
  const crowding = hits.filter(({ record }) => canCrowd(record, reader));
  for (const crowd of grouped(crowding, ({ record }) => originKey(record))) {
    // nobody to give way to, or nothing to give
    if (crowd.length === 1 || crowd.length === hits.length) continue;
    let kept = 0;
    const seen: ReadonlySet<string>[] = [];
    for (const hit of crowd) {
      const shingles = shinglesOf(wordsOf(textOf(hit.record).slice(0, VARIANT_CHARS)));
      const variant = seen.some((other) => overlap(shingles, other) >= VARIANT_OVERLAP);
      seen.push(shingles);
      if (variant) surplus.set(hit, 'It varies another memory of the same origin');
      else if (kept >= room) surplus.set(hit, 'Its origin has more than half of the places');
      else kept += 1;
    }
  }
  if (surplus.size === 0) return hits;
  return hits.map((hit, i) => {
    const sentence = surplus.get(hit);
    const score = onGrid(hit.score * CROWD_SHARE);
    const overtaken = hits.slice(i + 1).some((other) => !surplus.has(other) && other.score > score);
    if (sentence === undefined || !overtaken) return hit;
    const contribution = score - hit.score;
    const part: SignalPart = { signal: 'origin_share', raw: null, normalised: 1, weight: contribution, contribution, sentence };
    return { ...hit, score, parts: [...hit.parts, part] };
  });
}

const onGrid = (score: number): number => Number((Math.round(score / STEP) * STEP).toPrecision(12));

/** Groups in the order of their first member. */
function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): readonly (readonly T[])[] {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
