/** The embed job: takes records whose vectors are due, embeds them and writes the vectors back; started by the worker, nudged by writes. */
import type { Clock } from '../domain/clock.ts';
import { STATUSES, type MemoryRecord, type StoredRecord } from '../domain/memory.ts';
import type { DirtyMarks, EmbedQueue, EmbedTask, MemoryIndex, QueueDepth } from '../domain/ports.ts';
import type { MeetNearest } from '../domain/near-duplicates.ts';
import { HindsightError } from '../errors.ts';
import { lendsContext } from '../domain/turns.ts';
import { systemPrincipal } from '../gate/system-principal.ts';
import type { Guard } from '../guard/guard.ts';
import { EmbeddingRejected, type EmbeddingProvider } from '../providers/embedding/provider.ts';
import { embedAll, type Embedded, type EmbedWork } from './embed-batch.ts';
import { createEmbedCall } from './embed-call.ts';
import { embeddedRecords } from './embed-duplicates.ts';
import { diesOf, patchOf } from './embed-patch.ts';
import { textsToEmbed } from './embed-text.ts';
import { createEmbedWriter, type Change } from './embed-write.ts';
import type { Job } from './worker.ts';

export interface EmbedJobOptions {
  readonly index: MemoryIndex;
  readonly queue: EmbedQueue;
  readonly guard: Guard;
  readonly embedder: Pick<EmbeddingProvider, 'spaces' | 'embed'>;
  readonly clock: Clock;
  /** Names this process in leases. */
  readonly by: string;
  /** Told of vectors that were written: the next search makes them visible. */
  readonly dirty?: Pick<DirtyMarks, 'mark'>;
  /** Longest time of one embedding call, ms. */
  readonly callLimitMs?: number;
  /** Rest before an endpoint that failed is asked once more whether it works at all, ms. */
  readonly probePauseMs?: number;
  /** Has what got its vectors meet the memories nearest to it, before it counts as settled. */
  readonly meetNearest?: MeetNearest;
  /** That failed for another reason than a store that is away: the vectors are written all the same, and what says the same twice stays. */
  readonly onUnmet?: (error: unknown) => void;
  readonly onDepth?: (depth: QueueDepth) => void;
  readonly onFailed?: (reason: 'unavailable' | 'rejected' | 'store', error: unknown) => void;
  /** Told of a record that is given up after five tries: it stays searchable by its words and is tried again once a day. */
  readonly onDead?: (tenant: string, memoryId: string) => void;
}

/** A batch of local vectors takes about a second; a crash costs the rest of the lease. */
const BATCH = 16;
const LEASE_MS = 60_000;
/** Twice what a full call of 64 texts takes on a slow machine, and one attempt with two repeats at a busy endpoint. */
const CALL_LIMIT_MS = 40_000;
/** Twice the time after which a local worker that was given up is started again (EmbeddingThread). */
const PROBE_PAUSE_MS = 1_000;
/** Leases are renewed before a call that, with the write after it, could outlive them. */
const LEASE_RESERVE_MS = 10_000;
/** Texts that hang one after the other must not keep everybody else waiting: what is left of the batch after this goes back. */
const BATCH_LIMIT_MS = 60_000;

type LinkedWork = EmbedWork & { readonly previous: StoredRecord | undefined };
const UNTOUCHED: Embedded = { vectors: new Map(), failed: undefined };

/**
 * One run takes a batch. Throws EmbeddingUnavailable when the model is away, and ERR_STORE_UNAVAILABLE when the store was while memories
 * met: the leases are given back and no try is consumed. A text
 * that the model refuses or fails on, while it takes others, costs its record a try, and so do vectors that the store refuses; after five
 * it is a dead letter.
 */
export function createEmbedJob(options: EmbedJobOptions): Job {
  const { index, queue, guard, embedder, clock, by, callLimitMs = CALL_LIMIT_MS, probePauseMs = PROBE_PAUSE_MS } = options;

  const load = async (record: MemoryRecord, memoryIds: readonly string[], statuses?: typeof STATUSES): Promise<readonly StoredRecord[]> => {
    const scope = guard.scope(
      { memoryIds },
      {
        principal: systemPrincipal(record),
        action: 'read',
        reach: [record.namespace],
        nowMs: clock(),
        ...(statuses === undefined ? {} : { statuses }),
      },
    );
    return guard.permitted(await index.get(scope), scope);
  };

  /** The turn before, as far as it may lend its words now: it may have been forgotten or made private since. */
  const previousOf = async (record: MemoryRecord): Promise<StoredRecord | undefined> => {
    if (record.prev_turn_id === undefined) return undefined;
    const [previous] = await load(record, [record.prev_turn_id]);
    return previous !== undefined && lendsContext(previous.record, record, clock()) ? previous : undefined;
  };

  const write = createEmbedWriter({
    index,
    clock,
    load: async (record) => (await load(record, [record.memory_id], STATUSES))[0],
    previousOf,
  });

  const workOf = async ({ record: stored }: EmbedTask, known: readonly string[]): Promise<LinkedWork> => {
    const previous = await previousOf(stored.record);
    return {
      stored,
      previous,
      spaces: (stored.record.spaces_due ?? []).filter((space) => known.includes(space)),
      texts: textsToEmbed(stored.record, previous?.record),
    };
  };

  /** Keeps the leases of a batch running; the positions it moves are kept by memory id. */
  const keepLeases = (tenant: string, tasks: readonly EmbedTask[], untilMs: number) => {
    const positions = new Map<string, StoredRecord['at']>(tasks.map(({ record }) => [record.record.memory_id, record.at]));
    const held = ({ record, at }: StoredRecord): StoredRecord => ({ record, at: positions.get(record.memory_id) ?? at });
    let endMs = untilMs;
    const renew = async (): Promise<void> => {
      const nowMs = clock();
      if (endMs - nowMs > callLimitMs + LEASE_RESERVE_MS) return;
      const stored = tasks.map(({ record }) => held(record));
      // A lease that cannot be renewed may lapse: another worker then does the same work, and one of the two writes it.
      const moved = await queue.renew(tenant, stored, LEASE_MS).catch(() => undefined);
      if (moved === undefined) return;
      for (const [id, at] of moved) positions.set(id, at);
      endMs = nowMs + LEASE_MS;
    };
    return { renew, held };
  };

  const tell = (tenant: string, record: MemoryRecord, failure: HindsightError): void => {
    options.onFailed?.(reasonOf(failure), failure);
    if (diesOf(record)) options.onDead?.(tenant, record.memory_id);
  };

  /** The fault of a store that is away: nothing that is settled meets again, so the batch goes back. */
  const meet = async (tenant: string, results: ReadonlyMap<LinkedWork, Embedded>): Promise<HindsightError | undefined> => {
    try {
      await options.meetNearest?.(tenant, embeddedRecords(results));
    } catch (error) {
      if (error instanceof HindsightError && error.code === 'ERR_STORE_UNAVAILABLE') return error;
      options.onUnmet?.(error);
    }
    return undefined;
  };

  return {
    name: 'embed',
    due: async () => {
      if (options.onDepth !== undefined) options.onDepth(await queue.depth());
      return (await queue.dueTenants()).map(({ tenant }) => tenant);
    },
    run: async (tenant, { nudged, signal }) => {
      // Asked before anything is claimed: while the model has not told its dimension there is nothing to do.
      const { spaces } = embedder;
      // What was just written shows in the claim's search only after a refresh.
      if (nudged) await index.refresh(tenant);
      const begunMs = clock();
      const claim = (): Promise<readonly EmbedTask[]> => queue.claim(tenant, { limit: BATCH, leaseMs: LEASE_MS, by });
      let tasks = await claim();
      // due, and nothing to be had: what a stopped process gave back may not be visible yet
      if (tasks.length === 0 && !nudged) {
        await index.refresh(tenant);
        tasks = await claim();
      }
      if (tasks.length === 0) return 'idle';
      const works = await Promise.all(
        tasks.map((task) =>
          workOf(
            task,
            spaces.map(({ name }) => name),
          ),
        ),
      );
      const leases = keepLeases(tenant, tasks, begunMs + LEASE_MS);
      const call = createEmbedCall({ embedder, signal, callLimitMs, beforeCall: leases.renew });
      const { results, outage } = await embedAll(call, works, { signal, probePauseMs, goOn: () => clock() - begunMs < BATCH_LIMIT_MS });
      const away = await meet(tenant, results);
      const nowMs = clock();
      const linked = new Map(works.map((w) => [w.previous?.record.memory_id, w.stored.record.memory_id]));
      const changes = works.map((work): Change => {
        const next = linked.get(work.stored.record.memory_id);
        return {
          ...leases.held(work.stored),
          texts: work.texts,
          patch: (now) => ({
            ...patchOf(now, (away === undefined ? results.get(work) : undefined) ?? UNTOUCHED, spaces, nowMs),
            ...(next === undefined ? {} : { next_turn_id: next }),
          }),
        };
      });
      const refused = await write(tenant, [...changes, ...linksOutside(works)]);
      if (away !== undefined) throw away;
      // without the mark they show with the index's own refresh
      await options.dirty?.mark(tenant).catch(() => undefined);
      const refusedIds = new Set(refused.map((record) => record.memory_id));
      for (const record of refused) tell(tenant, record, new HindsightError('ERR_STORE_REJECTED'));
      for (const [{ stored }, { failed }] of results)
        if (failed !== undefined && !refusedIds.has(stored.record.memory_id)) tell(tenant, stored.record, failed);
      if (outage !== undefined) {
        options.onFailed?.('unavailable', outage);
        throw outage;
      }
      const cut = works.some(
        (work) => results.get(work)?.failed === undefined && (results.get(work)?.vectors.size ?? 0) < work.spaces.length,
      );
      return cut || tasks.length === BATCH ? 'more' : 'idle';
    },
  };
}

function reasonOf(error: HindsightError): 'rejected' | 'unavailable' | 'store' {
  if (error instanceof EmbeddingRejected) return 'rejected';
  return error.code === 'ERR_STORE_REJECTED' ? 'store' : 'unavailable';
}

/** next_turn_id of turns before that are not in this batch themselves. */
function linksOutside(works: readonly LinkedWork[]): readonly Change[] {
  const inside = new Set(works.map((w) => w.stored.record.memory_id));
  return works.flatMap(({ previous, stored }) => {
    const id = stored.record.memory_id;
    if (previous === undefined || inside.has(previous.record.memory_id) || previous.record.next_turn_id === id) return [];
    return [{ ...previous, texts: undefined, patch: () => ({ next_turn_id: id }) }];
  });
}
