/** The one writer of a process's recall trace: takes recalls off the request's path, seals their queries and stores them in groups, in bounded memory. */
import type { TenantKeys } from '../../domain/ports.ts';
import { recallAad, type Recall, type RecallStore, type RecallTrace, type StoredRecall } from '../../domain/recall.ts';
import { HindsightError, type ErrorCode } from '../../errors.ts';

export interface RecallTraceParts {
  readonly store: Pick<RecallStore, 'append' | 'find'>;
  readonly keys: Pick<TenantKeys, 'seal'>;
  /** False: nothing is taken, what was stored can be read. */
  readonly on: boolean;
  /** Runs something later; answers how to call it off. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** Told when it cannot be written, and when it can again. */
  readonly onState: (up: boolean, cause?: unknown) => void;
  /** Told how many recalls were given up. */
  readonly onDropped: (count: number) => void;
  /** Recalls that may wait; 2,000 unless given. */
  readonly maxQueued?: number;
}

export interface ClosableRecallTrace extends RecallTrace {
  /** Tries once to store all that waits. Never throws. */
  flush(): Promise<void>;
  /** Flushes, gives up what is left, and takes nothing more. */
  close(): Promise<void>;
}

/** A request each for a search's own record would cost a search 20 % (telemetry/audit/trail); two seconds of them share one. */
const GATHER_MS = 2_000;
const GROUP = 200;
/** About 10 MB with ordinary questions, 25 MB with the longest; at 50 searches a second 40 seconds of an outage. */
const QUEUED = 2_000;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;
/** After so many tenants whose recalls could not be stored the others wait too: the store is away, and each try may take seconds. */
const TENANTS_TRIED = 3;
/** A tenant without a key that seals has its recalls without their queries. */
const NO_KEY: readonly ErrorCode[] = ['ERR_KEY_DELETED', 'ERR_KEYS_UNAVAILABLE'];

export function createRecallTrace(parts: RecallTraceParts): ClosableRecallTrace {
  const { store, keys, on, after, onState, onDropped, maxQueued = QUEUED } = parts;
  let queue: Recall[] = [];
  /** Of tenants whose recalls could not be stored in this run. */
  let aside: Recall[] = [];
  let failures = 0;
  let running: Promise<void> | undefined;
  let callOff: (() => void) | undefined;
  let closed = false;

  const schedule = (): void => {
    const ms = failures > 0 ? Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) : GATHER_MS;
    callOff = after(ms, () => {
      callOff = undefined;
      void drain();
    });
  };

  /** One at a time. */
  const drain = (): Promise<void> => {
    callOff?.();
    callOff = undefined;
    running ??= writeAll().finally(() => {
      running = undefined;
      if (queue.length > 0 && !closed) schedule();
    });
    return running;
  };

  const writeAll = async (): Promise<void> => {
    const failing = new Map<string, unknown>();
    const untried: Recall[] = [];
    while (queue.length > 0 && failing.size < TENANTS_TRIED)
      for (const [tenant, recalls] of byTenant(queue.splice(0, GROUP))) {
        if (!failing.has(tenant)) {
          if (failing.size === TENANTS_TRIED) {
            untried.push(...recalls);
            continue;
          }
          const cause = await write(tenant, recalls);
          if (cause === undefined) continue;
          failing.set(tenant, cause);
        }
        aside.push(...recalls);
      }
    // last, so that a tenant whose index is away does not keep the others from theirs
    queue = [...untried, ...queue, ...aside];
    aside = [];
    const before = failures;
    failures = failing.size === 0 ? 0 : before + 1;
    if (before === 0 && failures > 0) onState(false, [...failing.values()][0]);
    if (before > 0 && failures === 0) onState(true);
  };

  /** What keeps these from being stored now; undefined when they are stored, or lost. */
  const write = async (tenant: string, recalls: readonly Recall[]): Promise<unknown> => {
    try {
      const refused = await store.append(tenant, await Promise.all(recalls.map(sealed)));
      if (refused > 0) onDropped(refused);
    } catch (error) {
      if (error instanceof HindsightError && error.code === 'ERR_STORE_UNAVAILABLE') return error;
      onDropped(recalls.length);
    }
    return undefined;
  };

  const sealed = async ({ query, ...facts }: Recall): Promise<StoredRecall> => {
    try {
      const box = await keys.seal(facts.tenant, query, recallAad(facts.recall_id));
      return { ...facts, sealed: box.sealed, key_id: box.keyId };
    } catch (error) {
      if (error instanceof HindsightError && NO_KEY.includes(error.code)) return facts;
      throw error;
    }
  };

  const flush = async (): Promise<void> => {
    await running;
    if (queue.length > 0) await drain();
  };

  const find: RecallTrace['find'] = async (tenant, query) => {
    await flush();
    return store.find(tenant, query);
  };

  return {
    note(recall) {
      if (!on || closed) return;
      if (queue.length + aside.length >= maxQueued) return onDropped(1);
      queue.push(recall);
      if (running !== undefined) return;
      if (failures === 0 && queue.length >= GROUP) void drain();
      else if (callOff === undefined) schedule();
    },
    find,
    async returned(tenant, owner, traceId) {
      const recalls = await find(tenant, { traceId, owner });
      if (recalls.length === 0) return undefined;
      return [...new Set(recalls.flatMap(({ hits }) => hits.map((hit) => hit.memory_id)))];
    },
    flush,
    async close() {
      closed = true;
      await flush();
      callOff?.();
      if (queue.length > 0) onDropped(queue.length);
      queue = [];
    },
  };
}

function byTenant(recalls: readonly Recall[]): Map<string, Recall[]> {
  const found = new Map<string, Recall[]>();
  for (const recall of recalls) {
    const own = found.get(recall.tenant);
    if (own === undefined) found.set(recall.tenant, [recall]);
    else own.push(recall);
  }
  return found;
}
