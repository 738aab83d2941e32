/** A memory that becomes active again, let in or brought back, takes its slot as a new one would; memory/review and memory/replace-head call it. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { TIER } from '../../domain/trust.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnLinks } from '../turn-links.ts';
import { MAX_CAS_TRIES } from '../versions.ts';
import { against, EARLIER, related } from './against.ts';
import { createHeads } from './heads.ts';
import { refOf } from './meet.ts';
import { isEarlier } from './past.ts';
import type { RelationPolicy } from './relation-policy.ts';
import { claimAll, claimsOf, movedTo } from './standings.ts';

const PAUSE_MS = 50;

/** What the slot made of a record. */
export interface TakenSlot {
  /** It is history, as it is stored now: the slot has moved on since it was said. */
  readonly ended?: MemoryRecord;
  /** Both stand; the slot's own contradicts it. */
  readonly contradicts?: string;
}

const NOTHING: TakenSlot = {};

/**
 * What holds the slot by then is superseded where the record may take its place, and told of the contradiction otherwise; a record that was
 * over before it is history at once. Best effort, as the record stands: one that is not stored within `patienceMs`, or that keeps moving, stays.
 * `waited`: the record was said when it was made and let in later; what a person has said of the slot since then is the newer value.
 */
export async function takeSlot(
  deps: MemoryDeps,
  turns: TurnLinks,
  call: CallContext,
  record: MemoryRecord,
  { patienceMs = 0, waited = false }: { readonly patienceMs?: number; readonly waited?: boolean } = {},
): Promise<TakenSlot> {
  const heads = createHeads(deps, turns);
  const reads = serviceReads(deps);
  const rights = { admin: call.principal.scopes.has('memory:admin'), nowMs: deps.clock() };
  let pausesLeft = patienceMs / PAUSE_MS;
  for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
    const claimant = claimsOf(record, deps.relations, rights.nowMs);
    const { slot } = claimant;
    if (slot === undefined) return NOTHING;
    const [standing] = await claimAll(deps.slots, reads, [{ ...claimant, print: undefined }], deps.relations, rights.nowMs);
    const held = standing?.slot;
    if (held === undefined || held.state === 'ours') return NOTHING;
    if (held.state === 'wait') {
      pausesLeft -= 1;
      if (call.signal.aborted || pausesLeft < 0) return NOTHING;
      // one that is about to be stored is met once it stands
      attempt -= 1;
      await deps.sleep(PAUSE_MS, call.signal).catch(() => undefined);
      continue;
    }
    if (held.state === 'free') {
      const [moved] = await deps.slots.move(record.tenant, [movedTo(held.held, slot.document)]);
      if (moved !== 'conflict') return NOTHING;
      continue;
    }
    const head = held.head.record;
    const met = against(head, record, deps.relations, rights);
    const does = waited && isOver(record, head, deps.relations) ? 'past' : met.does;
    // it was over before what holds the slot: history from its first day, as at the write
    if (does === 'past') {
      const { head: ended } = await heads.supersede(refOf(record), head.memory_id, call, EARLIER);
      return ended?.status === 'superseded' ? { ended } : NOTHING;
    }
    if (does === 'contest' || does === 'doubt') {
      await heads.contest(refOf(head), record.memory_id, call);
      return { contradicts: head.memory_id };
    }
    if (does !== 'replace') return NOTHING;
    const { memory_id: mover, previous_id: before } = held.held.document;
    // the move before this one is ended first
    if (before !== undefined && before !== record.memory_id && held.came)
      await heads.supersede({ ...refOf(record), memory_id: before }, mover, call);
    const [moved] = await deps.slots.move(record.tenant, [movedTo(held.held, slot.document, head.memory_id)]);
    if (moved === undefined || moved === 'conflict') continue;
    const { followed } = await heads.supersede(refOf(head), record.memory_id, call);
    if (followed) await deps.slots.move(record.tenant, [movedTo(moved, moved.document)]);
    return NOTHING;
  }
  return NOTHING;
}

/** Whether the owner has said another value of the slot since the record was said; an agent's or a page's word since then ends nothing. */
function isOver(record: MemoryRecord, head: MemoryRecord, policy: RelationPolicy): boolean {
  if (head.owner !== record.owner || head.trust_tier < TIER.user_stated) return false;
  const isBefore = isEarlier(record, head) || (record.occurred_at === undefined && record.created_at < head.event_at);
  const { kind } = related(head, record, policy);
  return isBefore && (kind === 'changed' || kind === 'retracted');
}
