/** Steps from meetings: what a record that meets a stored memory becomes, and what is to be done to that one. Pure. */
import type { MemoryRecord, Status, Outcome, StoredRecord } from '../../domain/memory.ts';
import type { RecordRef } from '../../domain/ports.ts';
import { trustedMore } from '../../guard/confirmation.ts';
import type { Meeting } from './against.ts';
import type { Step } from './entry.ts';
import { standingOf } from './keys.ts';

/** What is left of the weight of a memory that may be outdated. */
export const DOUBT = 0.5;

const HELD_OUTCOME: Readonly<Partial<Record<Status, Outcome>>> = {
  candidate: 'candidate',
  pending: 'pending',
  quarantined: 'quarantined',
};

/** The step with one more memory met; one that stores nothing, or an earlier value, stays as it is. */
export function meets(step: Step, head: StoredRecord, { does, reason }: Meeting): Step {
  if (step.do !== 'store' || step.record.status === 'superseded') return step;
  const { record } = head;
  const ref = { ...refOf(record), stored: head };
  switch (does) {
    case 'beside':
      return step;
    case 'repeat':
      // of a more trusted memory it becomes no part
      return step.record.trust_tier < record.trust_tier
        ? repeats(record, reason)
        : { do: 'repeat', head: record, outcome: 'merged', reason };
    case 'merge':
      return { do: 'merge', head, outcome: 'merged', reason };
    case 'replace': {
      if (step.replaces.some(({ memory_id: id }) => id === record.memory_id)) return step;
      const supersedes = added(step.record.supersedes, record.memory_id);
      const outcome = step.outcome ?? 'replaced';
      return { ...step, record: { ...step.record, supersedes }, outcome, reason, replaces: [...step.replaces, ref] };
    }
    case 'past':
      return { ...step, record: { ...step.record, status: 'superseded', superseded_by: record.memory_id, reason }, reason };
    case 'doubt': {
      const conflict_with = added(step.record.conflict_with, record.memory_id);
      return { ...step, record: { ...step.record, conflict_with }, outcome: 'conflict', reason, doubts: [...step.doubts, ref] };
    }
    case 'contest': {
      const conflict_with = added(step.record.conflict_with, record.memory_id);
      // of two as trusted the screen of a search asks how many origins say so: who came first is no reason
      const doubt = trustedMore(step.record, record) < 0 ? { doubt: DOUBT } : {};
      const contested = { ...step.record, ...doubt, status: 'conflict' as const, conflict_with };
      return { ...step, record: contested, outcome: 'conflict', reason, contests: [...step.contests, ref] };
    }
  }
}

/** The stored memory stands for the record; one that is kept back answers as it did the first time. */
export function repeats(head: MemoryRecord, reason: string): Step {
  const held = standingOf(head) === 'held' ? HELD_OUTCOME[head.status] : undefined;
  return {
    do: 'repeat',
    head,
    outcome: held ?? 'duplicate',
    reason: held === undefined ? `a stored memory says it already: ${reason}` : 'the same text is held back already',
  };
}

export function refOf({ memory_id, tenant, namespace, owner }: MemoryRecord): RecordRef {
  return { memory_id, tenant, namespace, owner };
}

const added = (ids: readonly string[] | undefined, id: string): readonly string[] => [...new Set([...(ids ?? []), id])];
