/** A record that was stored after the end of its lease: what it claimed may be somebody else's by then, and is looked at once more; memory/conflicts/conflicts calls it. */
import type { MemoryRecord, StoredRecord } from '../../domain/memory.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnLinks } from '../turn-links.ts';
import { against, meetingSame, type Meeting } from './against.ts';
import type { Heads } from './heads.ts';
import { refOf } from './meet.ts';
import { claimAll, claimsOf, LEASE_MS, movedTo } from './standings.ts';
import { takeSlot } from './take-slot.ts';

/** Whoever took a claim stores within a lease, or never. */
const PATIENCE_MS = 2 * LEASE_MS;
const PAUSE_MS = 50;

/**
 * `held`: ids of the claims that the record held when it was stored; of others nothing is asked. Resolves with the memory that says the
 * same, where the record has ended as its copy; another value of its slot is met as any stored memory is. Errors: ERR_STORE_*.
 */
export type SettleLate = (call: CallContext, record: MemoryRecord, held: readonly string[]) => Promise<MemoryRecord | undefined>;

export function createSettleLate(deps: MemoryDeps, turns: TurnLinks, heads: Heads): SettleLate {
  const reads = serviceReads(deps);
  const policy = deps.relations;

  /** Undefined when it is to be looked at again. */
  const copied = async (
    call: CallContext,
    record: MemoryRecord,
    head: StoredRecord,
    { does }: Meeting,
  ): Promise<{ winner: MemoryRecord | undefined } | undefined> => {
    if (does === 'merge' && (await heads.unite(head, record, call)) === undefined) return undefined;
    const { ended } = await heads.supersede(refOf(record), head.record.memory_id, call);
    return { winner: ended ? head.record : undefined };
  };

  return async (call, record, held) => {
    const startMs = deps.clock();
    const rights = { admin: call.principal.scopes.has('memory:admin'), nowMs: startMs };
    while (deps.clock() - startMs <= PATIENCE_MS && !call.signal.aborted) {
      const lost = (await deps.slots.read(record.tenant, held)).flatMap(({ id, document }) =>
        document.memory_id === record.memory_id || document.previous_id === record.memory_id ? [] : [id],
      );
      if (lost.length === 0) return undefined;
      const { print, slot } = claimsOf(record, policy, deps.clock());
      const [text, place] = [print, slot].map((claim) => (claim !== undefined && lost.includes(claim.id) ? claim : undefined));
      const [standing] = await claimAll(deps.slots, reads, [{ record, print: text, slot: place }], policy, deps.clock());
      if (standing?.print?.state === 'wait' || standing?.slot?.state === 'wait') {
        await deps.sleep(PAUSE_MS, call.signal).catch(() => undefined);
        continue;
      }
      const said = standing?.print;
      if (text !== undefined && (said?.state === 'held' || said?.state === 'free')) {
        const meeting = said.state === 'held' ? meetingSame(said.head.record, record, 'the same words', rights) : undefined;
        if (said.state === 'held' && (meeting?.does === 'repeat' || meeting?.does === 'merge')) {
          const end = await copied(call, record, said.head, meeting);
          if (end === undefined) continue;
          return end.winner;
        }
        if (meeting === undefined || meeting.does === 'replace') {
          const [moved] = await deps.slots.move(record.tenant, [movedTo(said.held, text.document)]);
          if (moved === undefined || moved === 'conflict') continue;
        }
        if (said.state === 'held' && meeting?.does === 'replace') await heads.supersede(refOf(said.head.record), record.memory_id, call);
      }
      if (standing?.slot?.state === 'held') {
        const { head } = standing.slot;
        const meeting = against(head.record, record, policy, rights);
        if (meeting.does === 'repeat' || meeting.does === 'merge') {
          const end = await copied(call, record, head, meeting);
          if (end === undefined) continue;
          return end.winner;
        }
      }
      if (place !== undefined) await takeSlot(deps, turns, call, record, { patienceMs: LEASE_MS });
      return undefined;
    }
    return undefined;
  };
}
