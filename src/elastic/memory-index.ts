/** The MemoryIndex port on Elasticsearch: the operations in memory/ and the jobs call it, behind the guard's sealed types. */
import type { Client } from '@elastic/elasticsearch';
import type { Clock } from '../domain/clock.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import { createHoldings } from './holdings.ts';
import { createPredecessors } from './memory-predecessors.ts';
import { createMadeOf } from './memory-made-of.ts';
import { createMemoryNearest } from './memory-nearest.ts';
import { createMemoryReads } from './memory-reads.ts';
import { createMemorySearch } from './memory-search.ts';
import { createMemorySimilar } from './memory-similar.ts';
import { createMemoryTally } from './memory-tally.ts';
import { createMemoryWrites } from './memory-writes.ts';
import { placementOf } from './placement.ts';
import { createRefresher } from './refresher.ts';
import type { Schema } from './schema.ts';
import { createSealedCopies } from './sealed-copies.ts';

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
    ...createMadeOf(client, schema.prefix),
    ...createPredecessors(client, schema.prefix),
    ...createMemorySearch(client, schema.prefix),
    ...createMemorySimilar(client, schema.prefix),
    ...createMemoryNearest(client, schema.prefix),
    ...createMemoryTally(client, schema.prefix),
    ...createMemoryWrites(client, schema, holdings.noteWritten),
    ...createSealedCopies(client, schema.prefix),
    ...holdings,
    refresh: async (tenant) => {
      await refresher.refresh(placementOf(schema.prefix, tenant).memory);
      // what became visible may be another replica's: this process heard of it by the dirty mark that made it refresh
      holdings.noteWritten(tenant, []);
    },
  };
}
