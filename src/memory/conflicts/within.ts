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
}

/** Terms looked up before other calls get their turn on the event loop: every item is compared with those before it. */
const LOOKUPS_PER_SLICE = 100_000;
/** A relation of two texts costs about as much as so many lookups. */
const LOOKUPS_PER_RELATION = 2_000;

/** For each entry `store` (it goes on), `follow` or `wait`. */
export async function within(entries: readonly Entry[], policy: RelationPolicy, rights: Rights): Promise<readonly Step[]> {
  const leaders = new Map<string, number>();
  const slots = new Set<string>();
  const places = new Map<string, Kept[]>();
  const pace = { lookups: 0 };
  const stepOf = ({ record, checked }: Entry, i: number): Step => {
    const print = printId(record, policy);
    if (!checked || print === undefined) return plainly(record);
    const leader = leaders.get(print);
    if (leader !== undefined) return repeats(entries[leader]?.record, record, rights) ? { do: 'follow', leader } : { do: 'wait' };
    const slot = slotKey(record, policy);
    if (slot !== undefined && slots.has(slot.id)) return { do: 'wait' };
    const terms = standingOf(record) === 'active' ? termsOf(record) : undefined;
    const place = placeOf(record);
    const before = places.get(place) ?? [];
    if (terms !== undefined) {
      if (touches(before, { record, terms }, policy, pace)) return { do: 'wait' };
      places.set(place, before);
      before.push({ record, terms });
    }
    leaders.set(print, i);
    if (slot !== undefined) slots.add(slot.id);
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

function touches(before: readonly Kept[], { record, terms }: Kept, policy: RelationPolicy, pace: { lookups: number }): boolean {
  const { overlap, candidates } = policy.duplicates.lexical;
  let compared = 0;
  for (const other of before) {
    pace.lookups += Math.min(other.terms.size, terms.size);
    if (!shareTerms(other.terms, terms, overlap)) continue;
    pace.lookups += LOOKUPS_PER_RELATION;
    const { kind } = related(other.record, record, policy);
    // what is told in one breath and may contradict is left as it was told
    if (kind === 'same' || kind === 'changed' || kind === 'retracted') return true;
    compared += 1;
    if (compared >= candidates) return false;
  }
  return false;
}
