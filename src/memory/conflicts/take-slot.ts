/** A memory that becomes active again, let in or brought back, takes its slot as a new one would; memory/review and memory/replace-head call it. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnLinks } from '../turn-links.ts';
import { MAX_CAS_TRIES } from '../versions.ts';
import { against, EARLIER } from './against.ts';
import { createHeads } from './heads.ts';
import { refOf } from './meet.ts';
import { claimAll, claimsOf, movedTo } from './standings.ts';

const PAUSE_MS = 50;

/**
 * What holds the slot by then is superseded where the record may take its place, and told of the contradiction otherwise; a record that was
 * over before it is history at once. Best effort, as the record stands: one that is not stored within `patienceMs`, or that keeps moving, stays.
 */
export async function takeSlot(deps: MemoryDeps, turns: TurnLinks, call: CallContext, record: MemoryRecord, patienceMs = 0): Promise<void> {
  const heads = createHeads(deps, turns);
  const reads = serviceReads(deps);
  const rights = { admin: call.principal.scopes.has('memory:admin'), nowMs: deps.clock() };
  let pausesLeft = patienceMs / PAUSE_MS;
  for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
    const claimant = claimsOf(record, deps.relations, rights.nowMs);
    const { slot } = claimant;
    if (slot === undefined) return;
    const [standing] = await claimAll(deps.slots, reads, [{ ...claimant, print: undefined }], deps.relations, rights.nowMs);
    const held = standing?.slot;
    if (held === undefined || held.state === 'ours') return;
    if (held.state === 'wait') {
      pausesLeft -= 1;
      if (call.signal.aborted || pausesLeft < 0) return;
      // one that is about to be stored is met once it stands
      attempt -= 1;
      await deps.sleep(PAUSE_MS, call.signal).catch(() => undefined);
      continue;
    }
    if (held.state === 'free') {
      const [moved] = await deps.slots.move(record.tenant, [movedTo(held.held, slot.document)]);
      if (moved !== 'conflict') return;
      continue;
    }
    const head = held.head.record;
    const { does } = against(head, record, deps.relations, rights);
    // it was over before what holds the slot: history from its first day, as at the write
    if (does === 'past') await heads.supersede(refOf(record), head.memory_id, call, EARLIER);
    if (does === 'contest' || does === 'doubt') await heads.contest(refOf(head), record.memory_id, call);
    if (does !== 'replace') return;
    const [moved] = await deps.slots.move(record.tenant, [movedTo(held.held, slot.document, head.memory_id)]);
    if (moved === undefined || moved === 'conflict') continue;
    if (await heads.supersede(refOf(head), record.memory_id, call)) await deps.slots.move(record.tenant, [movedTo(moved, moved.document)]);
    return;
  }
}
