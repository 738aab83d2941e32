/** The draft of a restored version: what the old version said, in the place and under the identity of the head; memory/restore admits it. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { MemoryDeps } from './deps.ts';
import { maskedFingerprint } from './masking.ts';
import { dueSpaces, eventAt } from './record.ts';
import { textFields, withoutDerived } from './texts.ts';
import { withoutVectors } from './versions.ts';

/** What a version says and what is worth of it; everything else is the head's: identity, place, session, counters, trust. */
const SAID_FIELDS = [
  'layer',
  'kind',
  'subject',
  'topic',
  'domain',
  'task_type',
  'title',
  'content',
  'summary',
  'keywords',
  'tags',
  'entities',
  'metadata',
  'importance',
  'confidence',
  'doubt',
  'pinned',
  'occurred_at',
  'expires_at',
  'sensitivity',
  'sealed',
  'key_id',
  'masked',
  'triggers',
  'counter_examples',
] as const satisfies readonly (keyof MemoryRecord)[];

/** Ties and marks of a memory that no longer held. */
const ENDED_FIELDS: readonly (keyof MemoryRecord)[] = ['superseded_by', 'valid_to', 'conflict_with'];

type Life = Pick<MemoryRecord, 'status' | 'version' | 'updated_at' | 'valid_from' | 'created_by'> & { readonly reason: string };

/**
 * Seen by no more people than either version; derived fields made anew, vectors due. What was sealed is as the version has it: forgetting
 * took it out of every version.
 */
export function restoredDraft(deps: Pick<MemoryDeps, 'embedder'>, head: MemoryRecord, from: MemoryRecord, life: Life): MemoryRecord {
  const fields: Record<string, unknown> = { ...withoutDerived(withoutVectors(head)) };
  for (const field of ENDED_FIELDS) delete fields[field];
  for (const field of SAID_FIELDS) {
    if (from[field] === undefined || from[field] === null) delete fields[field];
    else fields[field] = from[field];
  }
  const said = fields as unknown as MemoryRecord;
  return {
    ...said,
    ...textFields(said),
    ...maskedFingerprint(said.content, said),
    visibility: head.visibility === 'private' || from.visibility === 'private' ? 'private' : 'shared',
    event_at: eventAt(said.occurred_at, head.created_at),
    spaces_due: dueSpaces(deps, said),
    ...life,
  };
}
