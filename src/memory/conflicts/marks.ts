/** What a stored record does to the memories it met, marked once it stands; memory/conflicts/conflicts calls it, and jobs/slot-repair ends what it leaves. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { serviceReads } from '../service-reads.ts';
import type { Aftermath } from './aftermath.ts';
import type { Step } from './entry.ts';
import type { Heads } from './heads.ts';
import { standingOf } from './keys.ts';
import { refOf } from './meet.ts';

export interface Marks {
  /** Marks what a stored record met, and has the move of its slot ended. Errors: ERR_STORE_*. */
  set(call: CallContext, record: MemoryRecord, step: Extract<Step, { do: 'store' }>): Promise<void>;
  /** Marks what an earlier attempt left: memories that the head names, which stand as they did when it was stored. Errors: ERR_STORE_*. */
  finish(call: CallContext, head: MemoryRecord): Promise<void>;
}

/** `later`: those whose ends leave to `aftermath` what follows, for moves of slots. */
export function createMarks(deps: MemoryDeps, { now, later }: { readonly now: Heads; readonly later: Heads }, aftermath: Aftermath): Marks {
  const reads = serviceReads(deps);
  return {
    async set(call, record, step) {
      const heads = step.moved === undefined ? now : later;
      let ended = true;
      for (const ref of step.replaces) ended = (await heads.supersede(ref, record.memory_id, call)) && ended;
      for (const ref of step.doubts) await heads.doubt(ref, record.memory_id, call);
      for (const ref of step.contests) await heads.contest(ref, record.memory_id, call);
      if (step.moved !== undefined && ended) await aftermath.note(undefined, step.moved);
    },

    async finish(call, head) {
      const { memory_id: id, supersedes = [], conflict_with: contradicts = [], created_at: storedAt } = head;
      if (standingOf(head) !== 'active' || supersedes.length + contradicts.length === 0) return;
      for (const { record } of await reads.load(head, [...supersedes, ...contradicts])) {
        // what was brought back or changed since stands for itself
        if (standingOf(record) !== 'active' || Date.parse(record.valid_from) > Date.parse(storedAt)) continue;
        if (supersedes.includes(record.memory_id)) await now.supersede(refOf(record), id, call);
        else if ((record.conflict_with ?? []).includes(id)) continue;
        else if (head.status === 'conflict') await now.contest(refOf(record), id, call);
        else await now.doubt(refOf(record), id, call);
      }
    },
  };
}
