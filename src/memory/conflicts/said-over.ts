/** Which texts of a batch tell over again what has been stored and taken back since: a log that is read in once more says nothing new. memory/conflicts/plan asks. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { ServiceReads } from '../service-reads.ts';
import type { Entry } from './entry.ts';
import { refOf } from './meet.ts';
import { isToldWith } from './past.ts';
import type { RelationPolicy } from './relation-policy.ts';

/** An entry of a batch, and the stored memory of its text that has ended, or is in doubt. */
export interface ToldBefore {
  /** Place in the batch. */
  readonly at: number;
  readonly stored: MemoryRecord;
}

/**
 * Places of those whose contradiction the batch tells again after them, as they were told before: whatever they said, what comes after has
 * the last word, and has it now. Where that is not told again, or first, somebody has changed their mind. Errors: ERR_STORE_*.
 */
export async function saidOver(
  reads: Pick<ServiceReads, 'loadAll'>,
  entries: readonly Entry[],
  told: readonly ToldBefore[],
  policy: RelationPolicy,
): Promise<ReadonlySet<number>> {
  const asked = told.filter(({ at, stored }) => at < entries.length - 1 && isToldAs(stored, entries[at], policy));
  if (asked.length === 0) return new Set();
  const refs = asked.flatMap(({ stored }) => rivalsOf(stored).map((memory_id) => ({ ...refOf(stored), memory_id })));
  const rivals = new Map((await reads.loadAll(refs)).map(({ record }) => [record.memory_id, record]));
  const over = asked.filter(({ at, stored }) => {
    const [entry, ...later] = entries.slice(at);
    return rivalsOf(stored).some((id) => {
      const rival = rivals.get(id);
      return (
        rival !== undefined && later.some((one) => one.record.trust_tier >= (entry?.record.trust_tier ?? 0) && isToldAs(rival, one, policy))
      );
    });
  });
  return new Set(over.map(({ at }) => at));
}

function isToldAs(stored: MemoryRecord, entry: Entry | undefined, policy: RelationPolicy): boolean {
  return entry?.checked === true && isToldWith(stored, entry.record, policy);
}

/** What took its place, or speaks against it. */
function rivalsOf({ status, superseded_by: by, conflict_with: against = [] }: MemoryRecord): readonly string[] {
  return status === 'superseded' ? (by === undefined ? [] : [by]) : against;
}
