/** Makes the memory gateway from its parts; compose.ts calls it once. */
import { context } from './context/context.ts';
import { createConflicts } from './conflicts/conflicts.ts';
import type { MemoryDeps } from './deps.ts';
import { exportLines } from './export.ts';
import { feedback } from './feedback/feedback.ts';
import { forget, plannedCount } from './forget.ts';
import type { MemoryGateway } from './gateway.ts';
import { acknowledge, heldBack } from './held-back.ts';
import { importItems } from './import.ts';
import { deleteKeys, reveal } from './keys.ts';
import { recallTrace } from './recall/read.ts';
import { readNamespace, switchCollect } from './namespace.ts';
import { get, history, list } from './read.ts';
import { restore } from './restore.ts';
import { decide, listForReview } from './review.ts';
import { search } from './search.ts';
import { stats } from './stats.ts';
import { summarize } from './summary/summarize.ts';
import { createTurnLinks } from './turn-links.ts';
import { update } from './update.ts';
import { setState, state } from './working/state.ts';
import { addTurn, turns as sessionTurns } from './working/turns.ts';
import { write } from './write.ts';

/** The only door to memory (memory/gateway.ts). Keeps no state but the last turns of running sessions. */
export function createMemoryGateway(deps: MemoryDeps): MemoryGateway {
  const turns = createTurnLinks(deps);
  const conflicts = createConflicts(deps, turns);
  return {
    write: (input, call) => write(deps, turns, conflicts, input, call),
    search: (input, call) => search(deps, input, call),
    context: (input, call) => context(deps, input, call),
    get: (input, call) => get(deps, input, call),
    list: (input, call) => list(deps, input, call),
    update: (input, call) => update(deps, turns, input, call),
    restore: (input, call) => restore(deps, turns, input, call),
    history: (input, call) => history(deps, input, call),
    feedback: (input, call) => feedback(deps, input, call),
    forget: (input, call, answered) => forget(deps, turns, input, call, answered),
    plannedCount: (plan, call) => plannedCount(deps, plan, call),
    listForReview: (state, input, call) => listForReview(deps, state, input, call),
    heldBack: (memoryId, call) => heldBack(deps, memoryId, call),
    believes: (leg, { principal }) => deps.guard.believes(principal, leg),
    acknowledge: (input, call) => acknowledge(deps, turns, input, call),
    decide: (state, input, call) => decide(deps, turns, state, input, call),
    reveal: (input, call) => reveal(deps, input, call),
    summarize: (input, call) => summarize(deps, (item, by) => write(deps, turns, conflicts, item, by), input, call),
    recallTrace: (input, call) => recallTrace(deps, input, call),
    deleteKeys: (input, call) => deleteKeys(deps, input, call),
    readNamespace: (input, call) => readNamespace(deps, input, call),
    switchCollect: (input, call) => switchCollect(deps, input, call),
    stats: (input, call) => stats(deps, input, call),
    exportLines: (input, call) => exportLines(deps, input, call),
    importItems: (input, call) => importItems(deps, turns, input, call),
    addTurn: (input, call) => addTurn(deps, input, call),
    turns: (input, call) => sessionTurns(deps, input, call),
    setState: (input, call) => setState(deps, input, call),
    state: (input, call) => state(deps, input, call),
  };
}
