/** Finds what was made of memories, whoever made it: the upkeep of summaries, derived memories and proposals (memory/service-reads) loads it through the guard. */
import type { Client } from '@elastic/elasticsearch';
import type { MemoryIndex, RecordRef } from '../domain/ports.ts';
import { ANSWER } from './client.ts';
import { ifIndexExists } from './memory-reads.ts';
import { placementOf } from './placement.ts';

/** Only what a record is loaded by. */
const REF: readonly (keyof RecordRef)[] = ['memory_id', 'tenant', 'namespace', 'owner'];
const PAGE = 500;

/** In pages, so that nothing that was made of a much used memory is left out. Errors: ERR_STORE_*. */
export function createMadeOf(client: Client, prefix: string): Pick<MemoryIndex, 'madeOf'> {
  return {
    async madeOf(tenant, namespace, parents) {
      const refs: RecordRef[] = [];
      const filter = [
        { term: { tenant } },
        { term: { namespace } },
        { term: { doc_type: 'memory' } },
        { terms: { parents: [...parents] } },
      ];
      for (let after: string | undefined; ;) {
        const answer = await ifIndexExists(() =>
          client.search<RecordRef>(
            {
              index: placementOf(prefix, tenant).memory,
              query: { bool: { filter } },
              size: PAGE,
              sort: [{ memory_id: 'asc' }],
              ...(after === undefined ? {} : { search_after: [after] }),
              _source: [...REF],
              track_total_hits: false,
              allow_partial_search_results: false,
            },
            ANSWER,
          ),
        );
        const page = answer?.hits.hits.flatMap((hit) => hit._source ?? []) ?? [];
        refs.push(...page);
        after = page.at(-1)?.memory_id;
        if (page.length < PAGE || after === undefined) return refs;
      }
    },
  };
}
