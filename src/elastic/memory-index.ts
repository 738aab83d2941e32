/** The MemoryIndex port on Elasticsearch: memory/service calls it, behind the guard's sealed types. */
import type { Client } from '@elastic/elasticsearch';
import type { Clock } from '../domain/clock.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import { createHoldings } from './holdings.ts';
import { createMemoryReads } from './memory-reads.ts';
import { createMemorySearch } from './memory-search.ts';
import { createMemoryWrites } from './memory-writes.ts';
import { placementOf } from './placement.ts';
import { createRefresher } from './refresher.ts';
import type { Schema } from './schema.ts';

export interface MemoryIndexOptions {
  readonly client: Client;
  readonly schema: Schema;
  readonly clock: Clock;
}

/** Reads, writes, search and holdings of all tenants over one client; keeps no state but caches. */
export function createMemoryIndex({ client, schema, clock }: MemoryIndexOptions): MemoryIndex {
  const holdings = createHoldings(client, schema.prefix, clock);
  const refresher = createRefresher(client);
  return {
    ...createMemoryReads(client, schema.prefix),
    ...createMemorySearch(client, schema.prefix),
    ...createMemoryWrites(client, schema, holdings.noteWritten),
    ...holdings,
    refresh: (tenant) => refresher.refresh(placementOf(schema.prefix, tenant).memory),
  };
}
