/** When one turn of a conversation may serve as context of the next, and the mark of one cut loose: read by memory (context field) and by jobs (vector, repair). */
import type { MemoryRecord } from './memory.ts';

type Turn = Pick<
  MemoryRecord,
  'tenant' | 'namespace' | 'owner' | 'session_id' | 'turn' | 'trust_tier' | 'visibility' | 'status' | 'expires_at'
>;

/**
 * Whether `previous` may lend its words to `record`: the turn before it in the same session, namespace and owner, at least as trusted
 * (or a poisoned turn would colour the next one), no more private (or a shared record would give private words away), and still valid.
 */
export function lendsContext(previous: Turn, record: Omit<Turn, 'status' | 'expires_at'>, nowMs: number): boolean {
  return (
    record.session_id !== undefined &&
    record.turn !== undefined &&
    previous.tenant === record.tenant &&
    previous.namespace === record.namespace &&
    previous.owner === record.owner &&
    previous.session_id === record.session_id &&
    previous.turn === record.turn - 1 &&
    previous.trust_tier >= record.trust_tier &&
    (previous.visibility === 'shared' || record.visibility === 'private') &&
    (previous.status === 'active' || previous.status === 'conflict') &&
    (previous.expires_at === undefined || Date.parse(previous.expires_at) > nowMs)
  );
}

/**
 * `prev_turn_id` of a turn whose predecessor is about to change or go: it borrows nothing until that is done. No id reads like this, so a
 * turn that a crash left so is found by it (jobs/turn-repair).
 */
export const DETACHED = 'detached';
