/** Stores admitted records so that nothing is said twice and a slot has one value: rounds of planning, storing and marking until every record has its answer. memory/write calls it. */
import type { MemoryRecord, Status, Outcome } from '../../domain/memory.ts';
import type { CreateOutcome } from '../../domain/ports.ts';
import type { WriteResult } from '../../domain/wire/write.ts';
import { HindsightError } from '../../errors.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { failedResult } from '../item-results.ts';
import type { TurnLinks } from '../turn-links.ts';
import { createAftermath } from './aftermath.ts';
import { LEASE_MS, STORE_MS } from './standings.ts';
import type { Entry, Step } from './entry.ts';
import { createHeads, handOver } from './heads.ts';
import { createLine } from './in-line.ts';
import { createInsist } from './insist.ts';
import { printId, slotKey } from './keys.ts';
import { createSettleLate } from './late.ts';
import { createMarks } from './marks.ts';
import { createRecentTexts } from './near.ts';
import { createPlan } from './plan.ts';
import { storedResult } from './results.ts';

/**
 * A store of the records as they are by now; in order. `foretold`: the results of all entries, once nothing is open but whether the store
 * takes them.
 */
export type Put = (
  records: readonly { readonly record: MemoryRecord; readonly admitted: MemoryRecord }[],
  foretold: readonly WriteResult[] | undefined,
) => Promise<readonly Stored[]>;

/** As it was stored, and whether. */
export interface Stored {
  readonly record: MemoryRecord;
  readonly outcome: CreateOutcome | undefined;
}

export interface Conflicts {
  /** Texts and slots that they claim: calls with one of the same go one after the other. */
  keysOf(entries: readonly Entry[]): readonly string[];
  /** One result for each entry, in order. Errors: ERR_STORE_*, and ERR_BUSY where a claim never comes free, when nothing was decided yet. */
  storeAll(call: CallContext, entries: readonly Entry[], put: Put): Promise<readonly WriteResult[]>;
}

/** Long enough for the lease of a process that died, and one more. */
const PATIENCE_MS = 3 * LEASE_MS;
/** Items of a call that waits in line: a long batch would keep everybody who shares a text with it waiting. */
const IN_LINE = 4;
const FIRST_PAUSE_MS = 10;
const LAST_PAUSE_MS = 200;

export function createConflicts(deps: MemoryDeps, turns: TurnLinks): Conflicts {
  const aftermath = createAftermath(deps, turns);
  const heads = createHeads(deps, turns, aftermath);
  const recent = createRecentTexts(deps.clock);
  const plan = createPlan(deps, heads, recent);
  const settleLate = createSettleLate(deps, turns, heads);
  const marks = createMarks(deps, heads, aftermath);
  const insist = createInsist(deps);
  const line = createLine((signal) => deps.sleep(LEASE_MS, signal));

  /** What is stored stands, marked or not: a repeat of it marks what is left. */
  const quietly = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      deps.onDegraded?.('marks', error);
      return undefined;
    }
  };

  return {
    keysOf,
    // across processes the claims decide; what a lost claim costs there is a pause
    storeAll: (call, entries, put) => line.run(entries.length > IN_LINE ? [] : keysOf(entries), () => storeAll(call, entries, put)),
  };

  function keysOf(entries: readonly Entry[]): readonly string[] {
    const keys = entries.flatMap(({ record, checked }) =>
      checked ? [printId(record, deps.relations), slotKey(record, deps.relations)?.id] : [],
    );
    return [...new Set(keys.flatMap((key) => key ?? []))];
  }

  async function storeAll(call: CallContext, entries: readonly Entry[], put: Put): Promise<readonly WriteResult[]> {
    const results = new Map<number, WriteResult>();
    const mine = new Set(entries.map(({ record }) => record.memory_id));
    const startMs = deps.clock();
    let pauseMs = FIRST_PAUSE_MS;
    let changed = false;
    for (;;) {
      const open = entries.flatMap((entry, i) => (results.has(i) ? [] : [{ entry, i }]));
      if (open.length === 0) break;
      const done = results.size;
      const roundMs = deps.clock();
      const steps = await plan(
        call,
        open.map(({ entry }) => entry),
        mine,
      );
      const storing = open.flatMap(({ entry, i }, at) => {
        const step = steps[at];
        return step?.do === 'store' ? [{ i, entry, step }] : [];
      });
      const stored = await put(
        storing.map(({ entry, step }) => ({ record: step.record, admitted: entry.record })),
        storing.length === entries.length ? storing.map(({ step }) => storedResult(step.record, step)) : undefined,
      );
      const isLate = deps.clock() - roundMs > STORE_MS;
      for (const [at, { i, step }] of storing.entries()) {
        const one = stored[at];
        if (one?.outcome?.outcome !== 'created' && one?.outcome?.outcome !== 'exists') {
          results.set(i, failedResult(one?.outcome));
          continue;
        }
        const { record } = one;
        recent.remember(record);
        const winner = isLate ? await quietly(() => settleLate(call, record, step.holds ?? [])) : undefined;
        if (winner === undefined) {
          await insist(
            () => marks.set(call, record, step),
            () => marks.again(call, record),
          );
          for (const { memory_id: id } of step.replaces) recent.forget(id);
        }
        changed ||= isLate || step.outcome !== undefined;
        const result = storedResult(record, step);
        results.set(i, winner === undefined ? result : copyOf(result, winner));
      }
      for (const [at, { entry, i }] of open.entries()) {
        const step = steps[at];
        const result = step === undefined ? undefined : await answered(call, entry.record, step);
        if (result !== undefined) results.set(i, result);
        // also what another process has stored: whoever is told that it is there finds it
        changed ||= step?.do === 'merge' || step?.do === 'repeat';
      }
      for (const [at, { i }] of open.entries()) {
        const step = steps[at];
        const leader = step?.do === 'follow' ? results.get(open[step.leader]?.i ?? -1) : undefined;
        if (leader !== undefined) results.set(i, following(leader));
      }
      if (results.size === entries.length) break;
      const isStuck = results.size === done;
      if (call.signal.aborted || (isStuck && deps.clock() - startMs > PATIENCE_MS)) {
        if (results.size === 0) throw new HindsightError('ERR_BUSY', { cause: new Error('a claim never came free') });
        break;
      }
      if (!isStuck) {
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      await deps.sleep(pauseMs, call.signal);
      pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2);
    }
    if (changed) await deps.dirty.mark(call.principal.tenant);
    return entries.map((_entry, i) => results.get(i) ?? failedResult());
  }

  /** The answer for what is not stored as a memory of its own; undefined while it waits. */
  async function answered(call: CallContext, record: MemoryRecord, step: Step): Promise<WriteResult | undefined> {
    switch (step.do) {
      case 'repeat':
        await quietly(() => handOver(deps, step.claims ?? [], step.head));
        await quietly(() => marks.finish(call, step.head));
        return withTarget(storedResult(step.head, step));
      case 'done':
        await quietly(() => marks.finish(call, step.head, true));
        return storedResult(step.head, { ...(step.head.supersedes === undefined ? {} : { outcome: 'replaced' as const }) });
      case 'merge': {
        const merged = await heads.unite(step.head, record, call);
        if (merged === undefined) return undefined;
        recent.remember(merged);
        await quietly(() => handOver(deps, step.claims ?? [], merged));
        return withTarget(storedResult(merged, step));
      }
      case 'store':
      case 'follow':
      case 'wait':
        return undefined;
    }
  }
}

function withTarget(result: WriteResult): WriteResult {
  return result.outcome === 'merged' && result.memory_id !== null ? { ...result, merged_into: result.memory_id } : result;
}

/** What was stored has ended as a copy of `winner`. */
function copyOf(result: WriteResult, winner: MemoryRecord): WriteResult {
  return { ...result, memory_id: winner.memory_id, version: winner.version, outcome: 'duplicate', replaced: [] };
}

const HELD: readonly (Status | Outcome | 'failed' | 'invalid')[] = ['candidate', 'pending', 'quarantined', 'failed'];

/** A repeat within the batch answers as one of a stored memory would. */
function following(leader: WriteResult): WriteResult {
  if (HELD.includes(leader.outcome)) return leader;
  const { merged_into: _into, ...rest } = leader;
  return { ...rest, outcome: 'duplicate', reason: 'an earlier item of this batch says it already', replaced: [] };
}
