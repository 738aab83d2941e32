/** Looks up what stood before a page of hits: their next earlier versions and the memories they supersede, in one mget over both indices. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { MemoryRecord } from '../domain/memory.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import { openScoped, unscreened } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { ANSWER, isAway, storeCall } from './client.ts';
import { versionId } from './memory-writes.ts';
import { placementOf } from './placement.ts';

const WITHOUT_VECTORS = { excludes: ['vec_*', 'passages', 'lex_*', 'sealed'] };
/** Memories that one memory supersedes and that are looked at. */
const SUPERSEDED_MAX = 3;

export function createPredecessors(client: Client, prefix: string): Pick<MemoryIndex, 'predecessors'> {
  return {
    async predecessors(box) {
      const { of, steps } = openScoped(box);
      const { memory, versions } = placementOf(prefix, box.scope.tenant);
      const docs = of.flatMap(({ memory_id: id, version, supersedes = [] }) => [
        ...Array.from({ length: Math.min(steps, version - 1) }, (_, i) => wanted(versions, versionId(id, version - 1 - i))),
        ...supersedes.slice(-SUPERSEDED_MAX).map((other) => wanted(memory, other)),
      ]);
      if (docs.length === 0) return unscreened([]);
      const answer = await storeCall(() => client.mget<MemoryRecord>({ docs }, ANSWER));
      return unscreened(answer.docs.flatMap(recordOf));
    },
  };
}

const wanted = (index: string, id: string): estypes.MgetOperation => ({ _index: index, _id: id, _source: WITHOUT_VECTORS });

/** Nothing for a document, or a whole index, that is not there. */
function recordOf(doc: estypes.MgetResponseItem<MemoryRecord>): readonly MemoryRecord[] {
  if (!('error' in doc)) return doc.found && doc._source !== undefined ? [doc._source] : [];
  const { type } = doc.error;
  if (type === 'index_not_found_exception') return [];
  throw new HindsightError(isAway(undefined, type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED', { cause: new Error(`mget: ${type}`) });
}
