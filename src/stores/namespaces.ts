/** The namespaces index: one record per tenant and namespace, made by its first writer; memory/write takes generation and collect from it, memory/namespace switches collect, scenario is kept for policies. */
import type { Client } from '@elastic/elasticsearch';
import { createHash } from 'node:crypto';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { NamespaceRecord, NamespaceStore } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { errorStatus, mapStoreError, RETRY, storeCall } from '../elastic/client.ts';
import { globalIndex } from '../elastic/placement.ts';

export interface NamespaceStoreOptions {
  readonly client: Client;
  readonly prefix: string;
  readonly clock: Clock;
  /** Scenario of a namespace that nobody configured. */
  readonly scenario?: string;
}

/**
 * Another process may change collect: seen after this long at the latest. Every write asks, so without a cache each would cost one more
 * read by id; a person who switches collecting off can wait a minute.
 */
const CACHE_MS = 60_000;
const ENTRIES_KEPT = 10_000;

/** NamespaceStore on `<prefix>-namespaces`; existing records are cached for 60 s. Errors: ERR_STORE_*. */
export function createNamespaceStore({ client, prefix, clock, scenario = 'assistant' }: NamespaceStoreOptions): NamespaceStore {
  const index = globalIndex(prefix, 'namespaces');
  const cache = new Map<string, { readonly record: NamespaceRecord; readonly readAt: number }>();
  const making = new Map<string, Promise<NamespaceRecord>>();

  const keep = (id: string, record: NamespaceRecord): NamespaceRecord => {
    if (cache.size >= ENTRIES_KEPT) cache.clear();
    cache.set(id, { record, readAt: clock() });
    return record;
  };

  const read = async (id: string): Promise<NamespaceRecord | undefined> => {
    const known = cache.get(id);
    if (known !== undefined && clock() - known.readAt < CACHE_MS) return known.record;
    // realtime: a record made a moment ago is found without a refresh
    const found = await storeCall(() => client.get<NamespaceRecord>({ index, id }, { ...RETRY, ignore: [404] }));
    return found.found && found._source !== undefined ? keep(id, found._source) : undefined;
  };

  const make = async (id: string, record: NamespaceRecord): Promise<NamespaceRecord> => {
    const known = await read(id);
    if (known !== undefined) return known;
    try {
      await client.index({ index, id, document: record, op_type: 'create' }, RETRY);
      return keep(id, record);
    } catch (error) {
      if (errorStatus(error) !== 409) throw mapStoreError(error);
      return (await read(id)) ?? record;
    }
  };

  const ensure: NamespaceStore['ensure'] = (tenant, namespace, owner) => {
    const id = idOf(tenant, namespace);
    let pending = making.get(id);
    if (pending === undefined) {
      const record = { tenant, namespace, generation: 1, owner, scenario, collect: 'on', created_at: isoTime(clock()) } as const;
      pending = make(id, record).finally(() => making.delete(id));
      making.set(id, pending);
    }
    return pending;
  };

  return {
    get: (tenant, namespace) => read(idOf(tenant, namespace)),
    ensure,
    async setCollect(tenant, namespace, owner, collect) {
      const id = idOf(tenant, namespace);
      await ensure(tenant, namespace, owner);
      // one field of the document: whatever else changes at the same time stays
      const doc = { collect, updated_at: isoTime(clock()) };
      const answer = await storeCall(() =>
        client.update<NamespaceRecord, Partial<NamespaceRecord>, NamespaceRecord>(
          { index, id, doc, retry_on_conflict: 3, _source: true },
          RETRY,
        ),
      );
      const record = answer.get?._source;
      if (record === undefined) throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error('an update without _source') });
      return keep(id, record);
    },
  };
}

function idOf(tenant: string, namespace: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, namespace]))
    .digest('hex');
}
