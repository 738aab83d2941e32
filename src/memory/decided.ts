/** What a decision answers: the memory as its slot has left it; memory/review answers by it. Pure. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { ReviewAnswer } from '../domain/wire/review.ts';
import { defined } from './canonical.ts';
import { EARLIER } from './conflicts/against.ts';
import type { TakenSlot } from './conflicts/take-slot.ts';
import { CONTRADICTS } from './restored-slot.ts';
import { trustOf } from './view.ts';

/** `version`: the one that the decision made; of one that its slot has ended that of its end. */
export function approvedAnswer(
  head: MemoryRecord,
  version: number,
  tier: number,
  { ended, contradicts }: TakenSlot,
): Omit<ReviewAnswer, 'trace_id'> {
  const answer = { memory_id: head.memory_id, outcome: 'approved', trust: trustOf({ ...head, trust_tier: tier }) } as const;
  if (ended !== undefined)
    return { ...answer, status: 'superseded', version: ended.version, ...defined({ superseded_by: ended.superseded_by }), reason: EARLIER };
  return { ...answer, status: 'active', version, ...(contradicts === undefined ? {} : { reason: CONTRADICTS }) };
}
