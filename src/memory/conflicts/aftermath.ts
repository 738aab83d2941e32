/** What follows once memories have ended in another one's place: proposals to them end, summaries of them are in doubt, and turns give back the words they borrowed; a write's answer does not wait for it. */
import { DEFAULT_STATUSES, type MemoryRecord } from '../../domain/memory.ts';
import type { HeldSlot } from '../../domain/slots.ts';
import type { MemoryDeps } from '../deps.ts';
import { doubtWithEnded } from '../derived.ts';
import type { CallContext } from '../gateway.ts';
import { withdrawProposals } from '../proposals.ts';
import { writerOf } from '../record.ts';
import { serviceReads } from '../service-reads.ts';
import type { TurnDeps } from '../turn-context.ts';
import type { TurnLinks } from '../turn-links.ts';
import { isTurn } from '../turn-memo.ts';
import { createInsist } from './insist.ts';
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

/** Neither ever throws: what a store that is away kept from being done is tried again (insist). */
export interface Aftermath {
  /** Sees to what follows; false where that has to be tried again. */
  see(ended: Ended): Promise<boolean>;
  /**
   * Sees to what follows the move of `slot`, and then ends that move. With `afterwards` it resolves at once, and what ends within a moment
   * shares one look-up, without it when all is done. A slot whose move is not ended is found by the repair job too, which does it again.
   */
  note(ended: Ended | undefined, slot: HeldSlot): Promise<void>;
}

interface Moved {
  readonly ended: Ended | undefined;
  readonly slot: HeldSlot;
}

/** A refresh of the index and a search for each write cost more than the write. */
const GATHER_MS = 250;

/** What was brought back meanwhile is left alone. Safe to repeat. Errors: ERR_STORE_*, ERR_VERSION_CONFLICT. */
export async function settleEnded(deps: TurnDeps, turns: Turns, ended: readonly Ended[]): Promise<void> {
  const reads = serviceReads(deps);
  const heads = ended.map(({ head }) => head);
  // seldom anything
  if ((await reads.madeOf(heads)).length === 0 && !heads.some(isTurn)) return;
  const now = new Map((await reads.loadAll(heads)).map(({ record }) => [record.memory_id, record]));
  const over = ended.flatMap(({ head: { memory_id: id }, by }) => {
    const head = now.get(id);
    return head === undefined || DEFAULT_STATUSES.includes(head.status) ? [] : [{ head, by }];
  });
  const gone = over.map(({ head }) => head);
  // what is detached and not settled is found by the turn repair
  await turns.settle(gone, await turns.detach(gone));
  for (const { head, by } of over) {
    await withdrawProposals(deps, by, [head], () => true);
    await doubtWithEnded(deps, turns, writerOf(by.principal), [head]);
  }
}

export function createAftermath(deps: Deps, turns: Turns): Aftermath {
  const insist = createInsist(deps);
  let moves: Moved[] = [];
  let isUnderWay = false;

  /** Of one tenant. A move is ended last: while it is not, the repair job knows of it. */
  const follow = async (tenant: string, moved: readonly Moved[]): Promise<void> => {
    const ended = moved.flatMap((move) => move.ended ?? []);
    if (ended.length > 0) await settleEnded(deps, turns, ended);
    // one that moved on meanwhile is ended by whoever moved it
    await deps.slots.move(
      tenant,
      moved.map(({ slot }) => movedTo(slot, slot.document)),
    );
  };

  const drain = async (): Promise<void> => {
    const now = moves;
    moves = [];
    for (const tenant of new Set(now.map(({ slot }) => slot.document.tenant))) {
      const mine = now.filter(({ slot }) => slot.document.tenant === tenant);
      await insist(() => follow(tenant, mine));
    }
  };

  return {
    see: (ended) => insist(() => settleEnded(deps, turns, [ended])),
    async note(ended, slot) {
      moves.push({ ended, slot });
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
