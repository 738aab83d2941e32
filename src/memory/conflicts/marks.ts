/** What a stored record does to the memories it met, marked once it stands; memory/conflicts/conflicts calls it, and jobs/slot-repair ends what it leaves. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { HindsightError } from '../../errors.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { serviceReads } from '../service-reads.ts';
import type { Aftermath } from './aftermath.ts';
import type { Step } from './entry.ts';
import type { Heads } from './heads.ts';
import { standingOf } from './keys.ts';
import { refOf } from './meet.ts';

export interface Marks {
  /** Marks what a stored record met, and has the move of its slot ended. Errors: ERR_STORE_*, ERR_VERSION_CONFLICT where a memory never stood still. */
  set(call: CallContext, record: MemoryRecord, step: Extract<Step, { do: 'store' }>): Promise<void>;
  /**
   * Marks what an earlier attempt left: memories that the head names, which stand as they did when it was stored. `isRepeated`: what follows
   * those that it has marked, too. Errors: ERR_STORE_*.
   */
  finish(call: CallContext, head: MemoryRecord, isRepeated?: boolean): Promise<void>;
  /** The same for a record whose marks failed a while ago, as it is by now. Errors: ERR_STORE_*. */
  again(call: CallContext, record: MemoryRecord): Promise<void>;
}

/** What follows the end of a slot's former memory is left to `aftermath`, as the slot tells of it until then; nothing else does. */
export function createMarks(deps: MemoryDeps, heads: Heads, aftermath: Pick<Aftermath, 'note'>): Marks {
  const reads = serviceReads(deps);
  const finish: Marks['finish'] = async (call, head, isRepeated = false) => {
    const { memory_id: id, supersedes = [], conflict_with: contradicts = [], created_at: storedAt } = head;
    if (standingOf(head) !== 'active' || supersedes.length + contradicts.length === 0) return;
    for (const { record } of await reads.load(head, [...supersedes, ...contradicts])) {
      const isReplaced = supersedes.includes(record.memory_id);
      if (isRepeated && isReplaced && record.superseded_by === id) await heads.supersede(refOf(record), id, call);
      // what was brought back or changed since stands for itself
      if (standingOf(record) !== 'active' || Date.parse(record.valid_from) > Date.parse(storedAt)) continue;
      if (isReplaced) await heads.supersede(refOf(record), id, call);
      else if ((record.conflict_with ?? []).includes(id)) continue;
      else if (head.status === 'conflict') await heads.contest(refOf(record), id, call);
      else await heads.doubt(refOf(record), id, call);
    }
  };
  return {
    finish,

    async set(call, record, { replaces, doubts, contests, moved }) {
      const { memory_id: id } = record;
      const former = replaces.find(({ memory_id: one }) => one === moved?.document.previous_id);
      let ended = true;
      if (former !== undefined && moved !== undefined) {
        const end = await heads.end(former, id, call);
        if (end.ended) await aftermath.note(end.head === undefined ? undefined : { head: end.head, by: call }, moved);
        ({ ended } = end);
      }
      for (const ref of replaces) if (ref !== former) ended = (await heads.supersede(ref, id, call)).ended && ended;
      for (const ref of doubts) await heads.doubt(ref, id, call);
      for (const ref of contests) await heads.contest(ref, id, call);
      if (!ended) throw new HindsightError('ERR_VERSION_CONFLICT');
    },

    async again(call, { tenant, namespace, owner, memory_id: id }) {
      const [stored] = await reads.load({ tenant, namespace, owner }, [id]);
      if (stored !== undefined) await finish(call, stored.record, true);
    },
  };
}
