/** One change of a stored head beside the call that stores another memory, or by a job: read, changed and written until nobody moved it in between. */
import { isoTime } from '../../domain/clock.ts';
import { DEFAULT_STATUSES, type MemoryRecord, type StoredRecord } from '../../domain/memory.ts';
import type { RecordRef } from '../../domain/ports.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnDeps } from '../turn-context.ts';
import type { TurnLinks } from '../turn-links.ts';
import { keepVersion, MAX_CAS_TRIES } from '../versions.ts';
import { inOrder } from './past.ts';

type Writer = MemoryRecord['created_by'];

/** The head as it is afterwards; undefined when there was nothing to change, or it never stood still. `known`: as it was read a moment ago. */
export type HeadChange = (
  ref: RecordRef,
  by: Writer,
  to: (head: MemoryRecord) => Partial<MemoryRecord> | undefined,
  known?: StoredRecord,
) => Promise<MemoryRecord | undefined>;

export function createHeadChange(deps: TurnDeps, turns: Pick<TurnLinks, 'detach' | 'settle'>): HeadChange {
  const reads = serviceReads(deps);
  return async (ref, by, to, known) => {
    for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
      // one that moved since does not stand at its position any more
      const [stored] = attempt === 0 && known !== undefined ? [known] : await reads.load(ref, [ref.memory_id]);
      const fields = stored === undefined ? undefined : to(stored.record);
      if (stored === undefined || fields === undefined) return undefined;
      const head = stored.record;
      const nowIso = isoTime(deps.clock());
      const next = { ...head, ...fields, version: head.version + 1, updated_at: nowIso, valid_from: nowIso, created_by: by };
      // a turn after it loses its words before it ends
      const ends = !DEFAULT_STATUSES.includes(next.status);
      const detached = ends ? await turns.detach([head]) : [];
      await keepVersion(deps, head, nowIso);
      const replaced = (await deps.index.replace(deps.guard.readmit(next, head), stored.at)) === 'replaced';
      if (ends) await turns.settle([replaced ? next : head], detached);
      if (replaced) return next;
    }
    return undefined;
  };
}

/** What became of a head that another memory takes the place of. */
export interface Superseded {
  /** It is no longer to be marked, by this call or an earlier one. */
  readonly ended: boolean;
  /** As this call marked it. */
  readonly next: MemoryRecord | undefined;
  /** The same, or as an earlier call left it. */
  readonly head: MemoryRecord | undefined;
}

/**
 * Marks a head as superseded by another memory. Two writers that see each other's memory first would end both: where that other memory has
 * ended in this one's place already, that stands; where both are marked at once, the later of the two is brought back, by whoever sees it.
 * `known`: the head as it was read when the other one was about to be stored.
 */
export async function superseded(
  change: HeadChange,
  ref: RecordRef,
  by: string,
  writer: Writer,
  reason = 'a newer memory took its place',
  known?: StoredRecord,
): Promise<Superseded> {
  const other = { ...ref, memory_id: by };
  const read = async (one: RecordRef): Promise<MemoryRecord | undefined> => {
    let seen: MemoryRecord | undefined;
    await change(one, writer, (head) => {
      seen = head;
      return undefined;
    });
    return seen;
  };
  const bringBack = async (one: MemoryRecord, rival: MemoryRecord): Promise<RecordRef> => {
    const [first, last] = inOrder(one, rival);
    const back = last === one ? ref : other;
    await change(back, writer, (head) =>
      endedBy(head, first.memory_id) ? ({ ...STANDS, superseded_by: undefined } as unknown as Partial<MemoryRecord>) : undefined,
    );
    return back;
  };
  const former = await read(other);
  if (former !== undefined && endedBy(former, ref.memory_id)) {
    const own = await read(ref);
    // whoever marked the other one never came to look a second time
    const stays = own !== undefined && endedBy(own, by) && (await bringBack(own, former)) !== ref;
    return { ended: true, next: undefined, head: stays ? own : undefined };
  }
  let before: MemoryRecord | undefined;
  const to = (head: MemoryRecord): Partial<MemoryRecord> | undefined => {
    before = DEFAULT_STATUSES.includes(head.status) ? undefined : head;
    return before === undefined ? { status: 'superseded', superseded_by: by, reason } : undefined;
  };
  const next = await change(ref, writer, to, known);
  const rival = next === undefined ? undefined : await read(other);
  if (next === undefined || rival === undefined || !endedBy(rival, ref.memory_id))
    return { ended: before !== undefined || next !== undefined, next, head: next ?? before };
  const ours = (await bringBack(next, rival)) === ref ? undefined : next;
  return { ended: true, next: ours, head: ours };
}

function endedBy(head: MemoryRecord | undefined, other: string): boolean {
  return head?.superseded_by === other && !DEFAULT_STATUSES.includes(head.status);
}

const STANDS = { status: 'active', reason: 'the memory that took its place had given way to it' } as const;
