/** The turn repair: links turns again that a crash left cut loose between the change of one turn and the rebuilding of the next; run by a worker of its own. */
import type { DetachedTurn, DetachedTurns } from '../domain/ports.ts';
import type { Job } from './worker.ts';

export interface TurnRepairOptions {
  readonly turns: DetachedTurns;
  /** Links a turn to the one before it as both are now. */
  readonly repair: (turn: DetachedTurn) => Promise<void>;
  readonly onRepaired?: (tenant: string, count: number) => void;
}

/** Such a turn lacks context meanwhile, nothing else: there is no hurry. */
export const TURN_REPAIR_MS = 60_000;
/** Each costs three small requests. */
const BATCH = 50;
/** The look-up is over all tenants, as crashes are of the whole process. */
const EVERY_TENANT = '*';

/** One run repairs a batch; a store that is away pauses the worker. A turn that cannot be repaired holds up none of the others. */
export function createTurnRepair({ turns, repair, onRepaired }: TurnRepairOptions): Job {
  return {
    name: 'turn-repair',
    due: async () => [EVERY_TENANT],
    run: async (_tenant, { signal }) => {
      const left = await turns.left(BATCH);
      const counts = new Map<string, number>();
      const faults: unknown[] = [];
      for (const turn of left) {
        if (signal.aborted) break;
        try {
          await repair(turn);
          counts.set(turn.tenant, (counts.get(turn.tenant) ?? 0) + 1);
        } catch (error) {
          faults.push(error);
        }
      }
      counts.forEach((count, tenant) => onRepaired?.(tenant, count));
      // told to the worker, which logs it and waits; when all fail the same way the store is away
      if (faults.length > 0) throw faults[0];
      return left.length === BATCH && !signal.aborted ? 'more' : 'idle';
    },
  };
}
