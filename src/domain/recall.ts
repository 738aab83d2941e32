/** The recall trace: what each search and context block brought, and why, for 30 days; apart from the audit log, which holds no query and no score. */

/** What is asked for a prompt; a search that looks for what to forget is none. */
export type RecallOperation = 'memory_search' | 'memory_context';

export const RECALL_LIFE_MS = 30 * 86_400_000;

/** One memory that a recall returned. */
export interface RecalledMemory {
  readonly memory_id: string;
  /** Calibrated, 0..1, as it was answered. */
  readonly score: number;
  /** Contributions to it, by signal. */
  readonly parts: Readonly<Record<string, number>>;
}

interface RecallFacts {
  /** Unlike that of any other recall: one trace may hold several. */
  readonly recall_id: string;
  readonly trace_id: string;
  readonly tenant: string;
  /** Issuer-qualified subject hash of who asked. */
  readonly owner: string;
  readonly actor: string;
  readonly operation: RecallOperation;
  /** Asked for by name, and those of what came back. */
  readonly namespaces: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Best first. */
  readonly hits: readonly RecalledMemory[];
}

/** As it happened; `query` is masked, as the search saw it. */
export interface Recall extends RecallFacts {
  readonly query: string;
}

/** As it is stored; without `sealed` where the tenant had no key to seal the query with. */
export interface StoredRecall extends RecallFacts {
  /** The query, sealed with the tenant's key, bound to `recall_id`. */
  readonly sealed?: string;
  readonly key_id?: string;
}

/** Recalls of one trace. `owner` undefined: of anybody in the tenant. */
export interface RecallQuery {
  readonly traceId: string;
  readonly owner: string | undefined;
}

/** Failures: ERR_STORE_*. */
export interface RecallStore {
  /** Creates, all of one tenant; safe to repeat. How many were refused for good; ERR_STORE_UNAVAILABLE when any may be stored later. */
  append(tenant: string, recalls: readonly StoredRecall[]): Promise<number>;
  /** Oldest first, at most 100, none past its time. */
  find(tenant: string, query: RecallQuery): Promise<readonly StoredRecall[]>;
  /** Deletes up to `limit` of any tenant whose time is over; how many it found. */
  sweep(limit: number): Promise<number>;
}

/** What the memory service knows of the recall trace. */
export interface RecallTrace {
  /** Takes a recall and returns at once: it is stored within moments, with others, or counted as dropped. Never throws. */
  note(recall: Recall): void;
  /** Ids that the recalls of this person's trace returned, each once; undefined when nothing is known of it. ERR_STORE_*. */
  returned(tenant: string, owner: string, traceId: string): Promise<readonly string[] | undefined>;
  /** Its recalls, this process's own newest among them. ERR_STORE_*. */
  find(tenant: string, query: RecallQuery): Promise<readonly StoredRecall[]>;
}

/** What a sealed query belongs to: moved to another recall it does not open. */
export function recallAad(recallId: string): string {
  return `${recallId}/recall`;
}
