/** Access counters: counted in process, flushed in batches to the tenant's stats sidecar; the head is touched only when its level moves. */
import type { Client } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { SeqNo } from '../domain/memory.ts';
import type { AccessStats } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { bulk, itemAway } from '../elastic/bulk.ts';
import { isAway, RETRY, storeCall } from '../elastic/client.ts';
import { placementOf } from '../elastic/placement.ts';
import type { Schema } from '../elastic/schema.ts';

export interface AccessStatsOptions {
  readonly client: Client;
  readonly schema: Schema;
  readonly clock: Clock;
  readonly flushIntervalMs?: number;
  /** Told of a flush that failed; its counts are kept for the next one. */
  readonly onError?: (error: unknown) => void;
}

export interface ClosableAccessStats extends AccessStats {
  /** Stores what is counted so far, before its time. Failures: ERR_STORE_*. */
  flush(): Promise<void>;
  /** Stops the timer and flushes once more. */
  close(): Promise<void>;
}

const FLUSH_INTERVAL_MS = 5_000;
const FLUSH_ENTRIES = 500;
/** While Elasticsearch is away counts pile up to here; then the newest are dropped, for they are worth less than the memory. */
const ENTRIES_KEPT = 50_000;
const ROUNDS_MAX = 5;

interface StatsRecord {
  readonly tenant: string;
  readonly memory_id: string;
  readonly access_count: number;
  readonly access_level: number;
  readonly last_access_day: string;
  readonly updated_at: string;
}

type Counts = Map<string, number>;

/** Level of a count: 0 for none, 1 for one or two, then one more each time it about doubles. */
export function accessLevel(count: number): number {
  return Math.floor(Math.log2(count + 1));
}

/**
 * AccessStats with a timer (5 s) and an early flush at 500 entries. No scripts: counters are read, added to and written back by
 * compare-and-set, and read again on conflict, so two processes lose no count. `flush` throws ERR_STORE_* and keeps what is not stored.
 */
export function createAccessStats(options: AccessStatsOptions): ClosableAccessStats {
  const { client, schema, clock, flushIntervalMs = FLUSH_INTERVAL_MS, onError = () => undefined } = options;
  let buffer = new Map<string, Counts>();
  let entries = 0;
  let flushing: Promise<void> = Promise.resolve();

  const add = (tenant: string, memoryId: string, count: number): void => {
    let counts = buffer.get(tenant);
    if (counts === undefined) buffer.set(tenant, (counts = new Map<string, number>()));
    const before = counts.get(memoryId);
    if (before === undefined && entries >= ENTRIES_KEPT) return;
    if (before === undefined) entries += 1;
    counts.set(memoryId, (before ?? 0) + count);
  };

  const flushAll = async (): Promise<void> => {
    const taken = buffer;
    buffer = new Map();
    entries = 0;
    let fault: unknown;
    for (const [tenant, counts] of taken) {
      try {
        await flushTenant(client, schema, clock, tenant, counts);
      } catch (error) {
        fault ??= error;
      }
      // what flushTenant has stored it took out of `counts`
      for (const [memoryId, count] of counts) add(tenant, memoryId, count);
    }
    if (fault !== undefined) throw fault as Error;
  };

  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(flushAll);
    return flushing;
  };
  const flushQuietly = (): void => {
    if (entries > 0) flush().catch(onError);
  };
  const timer = setInterval(flushQuietly, flushIntervalMs);
  timer.unref();

  return {
    record(tenant, memoryIds) {
      const before = entries;
      for (const memoryId of memoryIds) add(tenant, memoryId, 1);
      if (before < FLUSH_ENTRIES && entries >= FLUSH_ENTRIES) flushQuietly();
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Adds `counts` to the sidecar, taking out of it what is stored, then moves the heads whose level changed. */
async function flushTenant(client: Client, schema: Schema, clock: Clock, tenant: string, counts: Counts): Promise<void> {
  await schema.ensureTenant(tenant, 'stats');
  const index = placementOf(schema.prefix, tenant).stats;
  const moved: StatsRecord[] = [];
  for (let round = 1; counts.size > 0; round += 1) {
    if (round > ROUNDS_MAX) throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('counters kept moving') });
    const known = await readStats(client, index, [...counts.keys()]);
    const batch = [...counts].map(([memoryId, count]) => nextStats(tenant, memoryId, count, known.get(memoryId), isoTime(clock())));
    const items = await bulk(
      client,
      index,
      batch.map((entry) => entry.operation),
    );
    let fault: HindsightError | undefined;
    for (const [i, { record, levelBefore }] of batch.entries()) {
      const item = items[i];
      if (item !== undefined && item.status < 300) {
        counts.delete(record.memory_id);
        if (record.access_level !== levelBefore) moved.push(record);
      } else if (item?.status !== 409) {
        const code = item === undefined || itemAway(item) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED';
        fault ??= new HindsightError(code, { cause: new Error(`stats: ${item?.errorType ?? 'no answer'}`) });
      }
    }
    if (fault !== undefined) {
      await moveHeads(client, schema, tenant, moved);
      throw fault;
    }
  }
  await moveHeads(client, schema, tenant, moved);
}

function nextStats(tenant: string, memoryId: string, count: number, known: { record: StatsRecord; at: SeqNo } | undefined, nowIso: string) {
  const accessCount = (known?.record.access_count ?? 0) + count;
  const record: StatsRecord = {
    ...known?.record,
    tenant,
    memory_id: memoryId,
    access_count: accessCount,
    access_level: accessLevel(accessCount),
    last_access_day: nowIso.slice(0, 10),
    updated_at: nowIso,
  };
  const action =
    known === undefined
      ? { create: { _id: memoryId } }
      : { index: { _id: memoryId, if_seq_no: known.at.seq_no, if_primary_term: known.at.primary_term } };
  const operation = `${JSON.stringify(action)}\n${JSON.stringify(record)}\n`;
  return { record, levelBefore: known?.record.access_level ?? 0, operation };
}

/** Realtime, so the position is the newest. */
async function readStats(client: Client, index: string, ids: string[]): Promise<Map<string, { record: StatsRecord; at: SeqNo }>> {
  const answer = await storeCall(() => client.mget<StatsRecord>({ index, ids }, RETRY));
  const known = new Map<string, { record: StatsRecord; at: SeqNo }>();
  for (const doc of answer.docs) {
    if ('error' in doc) {
      const code = isAway(undefined, doc.error.type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED';
      throw new HindsightError(code, { cause: new Error(`mget: ${doc.error.type}`) });
    }
    if (doc.found && doc._source !== undefined) {
      known.set(doc._id, { record: doc._source, at: { seq_no: doc._seq_no ?? 0, primary_term: doc._primary_term ?? 0 } });
    }
  }
  return known;
}

/**
 * Partial updates without a position: Elasticsearch retries them itself, and two fields of the ranking are all they touch. A head that
 * is gone stays gone; one that could not be reached is put right when its level moves next.
 */
async function moveHeads(client: Client, schema: Schema, tenant: string, moved: readonly StatsRecord[]): Promise<void> {
  if (moved.length === 0) return;
  const operations = moved.map(({ memory_id: id, access_level, last_access_day }) => {
    const update = { _id: id, retry_on_conflict: 3 };
    return `${JSON.stringify({ update })}\n${JSON.stringify({ doc: { access_level, last_access_day } })}\n`;
  });
  await bulk(client, placementOf(schema.prefix, tenant).memory, operations, { requireAlias: true });
}
