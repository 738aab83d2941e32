/** The recall trace's store in this process, with the same contract: it can be sent away and looked into. */
import type { Clock } from '../../src/domain/clock.ts';
import { RECALL_LIFE_MS, type RecallStore, type StoredRecall } from '../../src/domain/recall.ts';
import { HindsightError } from '../../src/errors.ts';

export interface TestRecallStore extends RecallStore {
  /** By id; what stands here is what there is. */
  readonly documents: Map<string, StoredRecall>;
  /** Sizes of the groups that came, refused ones among them. */
  readonly groups: number[];
  /** Tenants whose index cannot be reached; `*`: no index can. */
  readonly away: Set<string>;
  /** Resolves before a group is stored. */
  gate: Promise<void>;
}

const FOUND = 100;

export function createTestRecallStore(clock: Clock): TestRecallStore {
  const documents = new Map<string, StoredRecall>();
  const lives = ({ at }: StoredRecall): boolean => Date.parse(at) > clock() - RECALL_LIFE_MS;
  const remove = (recalls: readonly StoredRecall[]): number => {
    for (const { recall_id: id } of recalls) documents.delete(id);
    return recalls.length;
  };
  const store: TestRecallStore = {
    documents,
    groups: [],
    away: new Set(),
    gate: Promise.resolve(),
    async append(tenant, recalls) {
      store.groups.push(recalls.length);
      await store.gate;
      if (store.away.has('*') || store.away.has(tenant)) throw new HindsightError('ERR_STORE_UNAVAILABLE');
      for (const recall of recalls) if (!documents.has(recall.recall_id)) documents.set(recall.recall_id, structuredClone(recall));
      return 0;
    },
    async find(tenant, { traceId, owner }) {
      return [...documents.values()]
        .filter((r) => r.tenant === tenant && r.trace_id === traceId && (owner === undefined || r.owner === owner) && lives(r))
        .sort((a, b) => a.at.localeCompare(b.at))
        .slice(0, FOUND);
    },
    async sweep(limit) {
      return remove([...documents.values()].filter((recall) => !lives(recall)).slice(0, limit));
    },
  };
  return store;
}
