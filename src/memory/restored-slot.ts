/** A memory that comes back, or is changed, into a slot where another one stands by now: it takes its place, or both stay and the less trusted one is in doubt. */
import { DEFAULT_STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { HeldSlot } from '../domain/slots.ts';
import { trustedMore } from '../guard/confirmation.ts';
import { against, EARLIER } from './conflicts/against.ts';
import { createHeads } from './conflicts/heads.ts';
import { slotKey } from './conflicts/keys.ts';
import { DOUBT, refOf } from './conflicts/meet.ts';
import { LEASE_MS, movedTo } from './conflicts/standings.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { serviceReads } from './service-reads.ts';
import type { TurnLinks } from './turn-links.ts';

const PAUSE_MS = 50;
export const CONTRADICTS = 'another memory says otherwise: both stay';

/** What is to be done with the slot; `record` is what comes back, with its ties. */
export interface SlotReturn {
  readonly record: MemoryRecord;
  /** What the slot made of it, in one sentence. */
  readonly reason?: string;
  /** Once the record stands. A crash before leaves both active, one during is ended by the slot repair. ERR_STORE_*. */
  settle(call: CallContext): Promise<void>;
}

/**
 * What a change does to the slot that it moves a memory into: as when it comes back, but that one which was over before what stands there is
 * history at once, and a sentence that goes with it stays beside it. ERR_STORE_*.
 */
export async function movesToSlot(
  deps: MemoryDeps,
  turns: TurnLinks,
  head: MemoryRecord,
  record: MemoryRecord,
  call: CallContext,
): Promise<SlotReturn> {
  const id = slotKey(record, deps.relations)?.id;
  if (id === undefined || id === slotKey(head, deps.relations)?.id) return { record, settle: async () => undefined };
  return returnToSlot(deps, turns, record, call, true);
}

/**
 * By the rules of the write: what is less trusted, or of somebody else without memory:admin, never takes a place (guard.md, anomaly and
 * contradiction). ERR_STORE_*.
 */
export async function returnToSlot(
  deps: MemoryDeps,
  turns: TurnLinks,
  record: MemoryRecord,
  { principal, signal }: CallContext,
  changed = false,
): Promise<SlotReturn> {
  const alone: SlotReturn = { record, settle: async () => undefined };
  const id = slotKey(record, deps.relations)?.id;
  if (id === undefined) return alone;
  const found = await holderOf(deps, record, id, signal);
  if (found === undefined) return alone;
  const { held, other, isOnItsWay } = found;
  // whoever is about to be stored in the slot keeps it
  if (isOnItsWay)
    return {
      ...alone,
      reason: CONTRADICTS,
      record: { ...record, status: 'conflict', doubt: DOUBT, conflict_with: [held.document.memory_id] },
    };
  const stands = other !== undefined && DEFAULT_STATUSES.includes(other.record.status) && slotKey(other.record, deps.relations)?.id === id;
  if (!stands) return { record, settle: () => move(deps, held, record.memory_id) };
  const { memory_id: otherId, owner } = other.record;
  const heads = createHeads(deps, turns);
  const admin = principal.scopes.has('memory:admin');
  const does = changed ? against(other.record, record, deps.relations, { admin, nowMs: deps.clock() }).does : undefined;
  if (does === 'beside') return alone;
  if (does === 'past')
    return { ...alone, reason: EARLIER, record: { ...record, status: 'superseded', superseded_by: otherId, reason: EARLIER } };
  if (does === 'doubt')
    return {
      record: { ...record, conflict_with: [...(record.conflict_with ?? []).filter((one) => one !== otherId), otherId] },
      settle: async (call) => {
        await move(deps, held, record.memory_id);
        await heads.doubt(refOf(other.record), record.memory_id, call);
      },
    };
  if (record.trust_tier < other.record.trust_tier || trustedMore(record, other.record) < 0 || (owner !== record.owner && !admin))
    return {
      record: { ...record, status: 'conflict', doubt: DOUBT, conflict_with: [otherId] },
      reason: CONTRADICTS,
      settle: (call) => heads.contest(refOf(other.record), record.memory_id, call),
    };
  return {
    record: { ...record, supersedes: [...(record.supersedes ?? []).filter((one) => one !== otherId), otherId] },
    settle: async (call) => {
      await move(deps, held, record.memory_id, otherId);
      const { followed } = await heads.supersede(refOf(other.record), record.memory_id, call);
      const [now] = followed ? await deps.slots.read(record.tenant, [held.id]) : [];
      if (now?.document.memory_id === record.memory_id) await move(deps, now, record.memory_id);
    },
  };
}

/** Whoever holds the slot; one that is on its way is waited for as long as its lease lasts. Undefined when nobody else does. */
async function holderOf(
  deps: MemoryDeps,
  record: MemoryRecord,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly held: HeldSlot; readonly other: StoredRecord | undefined; readonly isOnItsWay: boolean } | undefined> {
  const reads = serviceReads(deps);
  const endMs = deps.clock() + LEASE_MS;
  for (;;) {
    const [held] = await deps.slots.read(record.tenant, [id]);
    if (held === undefined || held.document.memory_id === record.memory_id) return undefined;
    const { memory_id: holder, previous_id: previous, lease_until: leaseUntil } = held.document;
    const ids = previous === undefined || previous === record.memory_id ? [holder] : [holder, previous];
    const stored = await reads.load(record, ids);
    const other = stored.find(({ record: one }) => one.memory_id === holder);
    const isOnItsWay = other === undefined && Date.parse(leaseUntil) > deps.clock();
    // of one that never came the slot is its predecessor's
    if (!isOnItsWay) return { held, other: other ?? stored[0], isOnItsWay };
    if (signal.aborted || deps.clock() >= endMs) return { held, other, isOnItsWay };
    await deps.sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}

/** One that others moved meanwhile is theirs. */
async function move(deps: Pick<MemoryDeps, 'slots'>, held: HeldSlot, memoryId: string, previousId?: string): Promise<void> {
  await deps.slots.move(held.document.tenant, [movedTo(held, { ...held.document, memory_id: memoryId }, previousId)]);
}
