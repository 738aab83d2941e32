/** What follows once memories have ended in another one's place: proposals to them end, summaries of them are in doubt, and turns give back the words they borrowed; a write's answer does not wait for it. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { HeldSlot } from '../../domain/slots.ts';
import type { MemoryDeps } from '../deps.ts';
import { doubtWithEnded } from '../derived.ts';
import type { CallContext } from '../gateway.ts';
import { withdrawProposals } from '../proposals.ts';
import { writerOf } from '../record.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnDeps } from '../turn-context.ts';
import type { TurnLinks } from '../turn-links.ts';
import { movedTo } from './standings.ts';

/** Whoever ended them: a caller, or a job. */
type Ender = Pick<CallContext, 'principal'>;
type Turns = Pick<TurnLinks, 'detach' | 'settle'>;
type Deps = TurnDeps & Pick<MemoryDeps, 'slots' | 'sleep' | 'onDegraded' | 'afterwards'>;

/** A memory that has ended, and who ended it. */
export interface Ended {
  readonly head: MemoryRecord;
  readonly by: Ender;
}

export interface Aftermath {
  /**
   * Sees to what follows, and then ends the move of `slot`. With `afterwards` it resolves at once, and what ends within a moment shares one
   * look-up, without it when all is done. Never throws: a slot whose move is not ended is found by the repair job, which does it again.
   */
  note(ended: Ended | undefined, slot?: HeldSlot): Promise<void>;
}

/** A refresh of the index and a search for each write cost more than the write. */
const GATHER_MS = 250;

/** Safe to repeat. Errors: ERR_STORE_*, ERR_VERSION_CONFLICT. */
export async function settleEnded(deps: TurnDeps, turns: Turns, ended: readonly Ended[]): Promise<void> {
  const heads = ended.map(({ head }) => head);
  await turns.settle(heads, []);
  // seldom anything
  if ((await serviceReads(deps).madeOf(heads)).length === 0) return;
  for (const { head, by } of ended) {
    await withdrawProposals(deps, by, [head], () => true);
    await doubtWithEnded(deps, turns, writerOf(by.principal), [head]);
  }
}

export function createAftermath(deps: Deps, turns: Turns): Aftermath {
  let ended = new Map<string, Ended>();
  let slots = new Map<string, HeldSlot>();
  let isUnderWay = false;

  const settleTenant = async (tenant: string, mine: readonly Ended[], moved: readonly HeldSlot[]): Promise<void> => {
    try {
      if (mine.length > 0) await settleEnded(deps, turns, mine);
      // one that moved on meanwhile is ended by whoever moved it
      if (moved.length > 0)
        await deps.slots.move(
          tenant,
          moved.map((slot) => movedTo(slot, slot.document)),
        );
    } catch (error) {
      deps.onDegraded?.('marks', error);
    }
  };

  const drain = async (): Promise<void> => {
    while (ended.size + slots.size > 0) {
      const [nowEnded, nowMoved] = [[...ended.values()], [...slots.values()]];
      ended = new Map();
      slots = new Map();
      const tenants = new Set([...nowEnded.map(({ head }) => head.tenant), ...nowMoved.map(({ document }) => document.tenant)]);
      for (const tenant of tenants)
        await settleTenant(
          tenant,
          nowEnded.filter(({ head }) => head.tenant === tenant),
          nowMoved.filter(({ document }) => document.tenant === tenant),
        );
    }
  };

  return {
    async note(one, slot) {
      if (one !== undefined) ended.set(`${one.head.tenant}|${one.head.memory_id}`, one);
      if (slot !== undefined) slots.set(slot.id, slot);
      if (deps.afterwards === undefined) return drain();
      if (isUnderWay) return;
      isUnderWay = true;
      deps.afterwards(async (signal) => {
        await deps.sleep(GATHER_MS, signal).catch(() => undefined);
        isUnderWay = false;
        await drain();
      });
    },
  };
}
