/** A batch compared with itself: repeats follow the first one, what may touch an earlier item waits until that is stored. */
import { setImmediate } from 'node:timers/promises';
import type { MemoryRecord } from '../../domain/memory.ts';
import { bringsOrigin, bringsTags } from '../../guard/unite.ts';
import { livesLonger, related, type Rights } from './against.ts';
import { plainly, type Entry, type Step } from './entry.ts';
import { printId, slotKey, standingOf } from './keys.ts';
import { placeOf, shareTerms, termsOf } from './near.ts';
import type { RelationPolicy } from './relation-policy.ts';

interface Kept {
  readonly record: MemoryRecord;
  readonly terms: ReadonlySet<string>;
  /** Place in the batch. */
  readonly at: number;
}

/** An earlier item that a later one may repeat, change or end. */
interface Touched {
  readonly at: number;
  readonly isChanged: boolean;
}

/** Terms looked up before other calls get their turn on the event loop: every item is compared with those before it. */
const LOOKUPS_PER_SLICE = 100_000;
/** A relation of two texts costs about as much as so many lookups. */
const LOOKUPS_PER_RELATION = 2_000;

/** For each entry `store` (it goes on), `follow` or `wait`. */
export async function within(entries: readonly Entry[], policy: RelationPolicy, rights: Rights): Promise<readonly Step[]> {
  const leaders = new Map<string, number>();
  /** Whoever fills a slot first; others of it wait. */
  const slots = new Map<string, number>();
  const places = new Map<string, Kept[]>();
  /** Said to be otherwise by a later one: what says the same again is no repeat, but a change back. */
  const changed = new Set<number>();
  const pace = { lookups: 0 };
  const stepOf = ({ record, checked }: Entry, i: number): Step => {
    const print = printId(record, policy);
    if (!checked || print === undefined) return plainly(record);
    const leader = leaders.get(print);
    if (leader !== undefined && !changed.has(leader) && repeats(entries[leader]?.record, record, rights)) return { do: 'follow', leader };
    const slot = slotKey(record, policy);
    const holder = slot === undefined ? undefined : slots.get(slot.id);
    if (slot !== undefined && holder === undefined) slots.set(slot.id, i);
    if (holder !== undefined && holder !== leader) changed.add(holder);
    const terms = standingOf(record) === 'active' ? termsOf(record) : undefined;
    const place = placeOf(record);
    const before = places.get(place) ?? [];
    const touched = terms === undefined ? undefined : touches(before, { record, terms, at: i }, policy, pace);
    if (touched?.isChanged === true) changed.add(touched.at);
    if (terms !== undefined) {
      places.set(place, before);
      // also one that waits: whoever touches it waits for it
      before.push({ record, terms, at: i });
    }
    if (leader !== undefined || holder !== undefined || touched !== undefined) return { do: 'wait' };
    leaders.set(print, i);
    return plainly(record);
  };
  const steps: Step[] = [];
  for (const [i, entry] of entries.entries()) {
    steps.push(stepOf(entry, i));
    if (pace.lookups <= LOOKUPS_PER_SLICE) continue;
    await setImmediate();
    pace.lookups = 0;
  }
  return steps;
}

/** Says nothing that the first one does not: no more trust, no other source, no other tag, no longer life. */
function repeats(leader: MemoryRecord | undefined, record: MemoryRecord, { nowMs }: Rights): boolean {
  return (
    leader !== undefined &&
    leader.trust_tier >= record.trust_tier &&
    !bringsOrigin(leader, record) &&
    !bringsTags(leader, record) &&
    !livesLonger(record, leader, nowMs)
  );
}

/** The first earlier one that the record touches. */
function touches(before: readonly Kept[], { record, terms }: Kept, policy: RelationPolicy, pace: { lookups: number }): Touched | undefined {
  const { overlap, candidates } = policy.duplicates.lexical;
  let compared = 0;
  for (const other of before) {
    pace.lookups += Math.min(other.terms.size, terms.size);
    if (!shareTerms(other.terms, terms, overlap)) continue;
    pace.lookups += LOOKUPS_PER_RELATION;
    const { kind } = related(other.record, record, policy);
    // what is told in one breath and may contradict is left as it was told
    if (kind === 'same' || kind === 'changed' || kind === 'retracted') return { at: other.at, isChanged: kind !== 'same' };
    compared += 1;
    if (compared >= candidates) return undefined;
  }
  return undefined;
}
