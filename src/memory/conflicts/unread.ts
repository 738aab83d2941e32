/** A slot whose memory its writer may not read: who wins is settled as ever, and nothing of what that memory says is told. Pure. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { against, mayTakePlace, type Meeting, type Rights } from './against.ts';
import type { RelationPolicy } from './relation-policy.ts';

/** Told of every meeting: what the texts have in common would tell of the one that cannot be read. */
const REASON = 'a new value';

/** Of a repeat nothing may be told either: it is met as a value like any other. */
export function againstUnread(head: MemoryRecord, record: MemoryRecord, policy: RelationPolicy, rights: Rights): Meeting {
  const { does } = against(head, record, policy, rights);
  switch (does) {
    case 'beside':
    case 'past':
      return { does, reason: REASON };
    case 'repeat':
    case 'merge':
    case 'replace':
    case 'contest':
    case 'doubt': {
      if (mayTakePlace(head, record, rights)) return { does: 'replace', reason: REASON };
      return { does: record.trust_tier > head.trust_tier ? 'doubt' : 'contest', reason: REASON };
    }
  }
}
