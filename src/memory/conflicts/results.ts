/** The answer of a write for a memory that stands, whether this call stored it or an earlier one did. Pure. */
import type { MemoryRecord, Outcome, Status } from '../../domain/memory.ts';
import type { RecordRef } from '../../domain/ports.ts';
import type { WriteResult } from '../../domain/wire/write.ts';
import { maskedKinds } from '../../guard/secrets/stage.ts';

const OUTCOME_OF: Readonly<Partial<Record<Status, Outcome>>> = {
  active: 'stored',
  conflict: 'conflict',
  candidate: 'candidate',
  pending: 'pending',
  quarantined: 'quarantined',
};

/** `more`: what was decided beside storing it. */
export function storedResult(
  record: MemoryRecord,
  more: { readonly outcome?: Outcome; readonly reason?: string; readonly replaces?: readonly RecordRef[] } = {},
): WriteResult {
  const { verdict, rule_ids, policy_revision } = record.guard;
  const replaced = more.replaces?.map(({ memory_id }) => memory_id) ?? (more.outcome === 'replaced' ? record.supersedes : undefined);
  return {
    memory_id: record.memory_id,
    outcome: more.outcome ?? OUTCOME_OF[record.status] ?? 'stored',
    ...(more.reason === undefined || more.reason === '' ? {} : { reason: more.reason }),
    version: record.version,
    settled: (record.spaces_due ?? []).length === 0,
    replaced: [...(replaced ?? [])],
    masked: maskedKinds(record.masked),
    guard: { verdict, rule_ids: [...rule_ids], policy_revision },
  };
}
