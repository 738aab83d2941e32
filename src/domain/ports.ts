/** Ports: what memory and jobs need from the stores; elastic/ and stores/ implement them. */
import type { MemoryRecord, SeqNo, StoredRecord } from './memory.ts';
import type { SearchPage, SearchSpec } from './ranking.ts';
import type { Admitted, Scoped, Unscreened } from './sealed.ts';
import type { Filter } from './wire/common.ts';

export type CreateOutcome = { readonly outcome: 'created' | 'exists' } | { readonly outcome: 'failed'; readonly reason: string };

export interface ListSpec {
  readonly filter: Filter;
  readonly limit: number;
  /** Sort values after which the page starts: [created_at ms, memory_id]. */
  readonly after: readonly [number, string] | undefined;
}

export interface ListPage {
  readonly records: readonly MemoryRecord[];
  readonly next: readonly [number, string] | undefined;
}

/** Fields that the service derives or keeps for itself: no text, no right and no trust among them. */
type DerivedPatch = Partial<
  Pick<
    MemoryRecord,
    | `vec_${string}`
    | 'passages'
    | 'spaces_ready'
    | 'spaces_due'
    | 'embed_tries'
    | 'embed_error'
    | 'lease_until'
    | 'lease_by'
    | 'next_turn_id'
    | 'access_level'
    | 'last_access_day'
    | 'hit_count'
  >
>;

/** The end of a record: it can be taken away without the guard, never given. */
type ForgetPatch = Pick<MemoryRecord, 'reason' | 'version' | 'updated_at' | 'valid_from' | 'created_by'> & {
  readonly status: 'forgotten';
  readonly spaces_due: readonly [];
};

/** What may be written without the guard's admission. */
export type RecordPatch = DerivedPatch | ForgetPatch;

/**
 * A tenant's memories. Failures: ERR_STORE_UNAVAILABLE when Elasticsearch cannot be reached or answers 429/5xx, ERR_STORE_REJECTED
 * when it refuses the call. A missing tenant index reads as empty and is made by the first write.
 */
export interface MemoryIndex {
  /** op_type=create under the record's memory_id. */
  create(record: Admitted<MemoryRecord>): Promise<CreateOutcome>;
  /** The same in one bulk; answers in order. All records are of one tenant. */
  createMany(records: readonly Admitted<MemoryRecord>[]): Promise<readonly CreateOutcome[]>;
  /** Realtime read by id (before a refresh too), full records with vectors; missing ids are left out. */
  get(ids: Scoped<{ readonly memoryIds: readonly string[] }>): Promise<Unscreened<readonly StoredRecord[]>>;
  /** The one hybrid query. */
  search(spec: Scoped<SearchSpec>): Promise<Unscreened<SearchPage>>;
  /** Newest first, by created_at then memory_id; vectors left out. */
  list(spec: Scoped<ListSpec>): Promise<Unscreened<ListPage>>;
  count(filter: Scoped<{ readonly filter: Filter }>): Promise<number>;
  /** Point in time + search_after over all that fits, in pages; vectors left out. */
  scan(filter: Scoped<{ readonly filter: Filter; readonly pageSize: number }>): AsyncIterable<Unscreened<readonly MemoryRecord[]>>;
  /** Whole-document replace with if_seq_no; 'conflict' when it moved in between. */
  replace(record: Admitted<MemoryRecord>, at: SeqNo): Promise<'replaced' | 'conflict'>;
  /** Partial updates by doc, each with its position; in order. */
  patchMany(
    tenant: string,
    patches: readonly { readonly memoryId: string; readonly patch: RecordPatch; readonly at: SeqNo }[],
  ): Promise<readonly ('replaced' | 'conflict' | 'missing')[]>;
  /** Copy of a version, `_id` = memory_id@version, op_type=create: a second call changes nothing. */
  saveVersion(copy: Admitted<MemoryRecord>): Promise<void>;
  /** Earlier versions, newest first; the head is not among them. */
  versions(of: Scoped<{ readonly memoryId: string }>): Promise<Unscreened<readonly MemoryRecord[]>>;
  /** Makes all acknowledged writes of the tenant visible to searches. */
  refresh(tenant: string): Promise<void>;
  /** What the namespaces in scope hold: languages present, and whether any record has passages. Cached for 60 s, told of writes by `noteWritten`. */
  holdings(scope: Scoped<{ readonly key: string }>): Promise<{ readonly languages: ReadonlySet<string>; readonly passages: boolean }>;
  noteWritten(tenant: string, namespaces: readonly string[]): void;
}

export interface NamespaceRecord {
  readonly tenant: string;
  readonly namespace: string;
  readonly generation: number;
  readonly owner: string;
  readonly scenario: string;
  readonly collect: 'on' | 'off';
  readonly created_at: string;
}

export interface NamespaceStore {
  /** The namespace's record, made with op_type=create by the first writer; cached in process. */
  ensure(tenant: string, namespace: string, owner: string): Promise<NamespaceRecord>;
  get(tenant: string, namespace: string): Promise<NamespaceRecord | undefined>;
}

export type IdempotencyClaim =
  | { readonly state: 'new'; readonly memoryIds: readonly string[] }
  /** Same key and payload, a finished or interrupted call: use the same ids again (creation is op_type=create) and the kept answer if there is one. */
  | { readonly state: 'repeat'; readonly memoryIds: readonly string[]; readonly answer: unknown }
  | { readonly state: 'mismatch' }
  | { readonly state: 'in_flight' };

export interface IdempotencyStore {
  /** `key` is the already keyed HMAC(tenant|sub|route|key), `payload` the HMAC of the payload; op_type=create. */
  claim(key: string, payload: string, memoryIds: readonly string[]): Promise<IdempotencyClaim>;
  finish(key: string, answer: unknown): Promise<void>;
  /** The call ended without a lasting answer: a repeat may run at once. Never throws. */
  release(key: string): Promise<void>;
}

/** Access counters, flushed in batches to the stats sidecar; access_level of the head moves with them. */
export interface AccessStats {
  record(tenant: string, memoryIds: readonly string[]): void;
  flush(): Promise<void>;
}

/** A record claimed for embedding. */
export interface EmbedTask {
  readonly tenant: string;
  readonly record: StoredRecord;
}

export interface EmbedQueue {
  /** Tenants with due records: names and counts only (the one cross-tenant query). */
  dueTenants(): Promise<readonly { readonly tenant: string; readonly count: number }[]>;
  /** Takes a lease on up to `limit` due records whose lease has run out and whose tries are under the limit (batch of if_seq_no updates). */
  claim(tenant: string, options: { readonly limit: number; readonly leaseMs: number; readonly by: string }): Promise<readonly EmbedTask[]>;
  /** Counts of due and of dead-letter records (embed_tries at the limit) of all tenants. */
  depth(): Promise<{ readonly due: number; readonly dead: number }>;
}

/** Read-your-writes: which tenants have writes that no search has made visible yet. */
export interface DirtyMarks {
  mark(tenant: string): Promise<void>;
  /**
   * Resolves when everything marked before this call is visible: by `refresh` where that has not been done since, also when another
   * caller's is under way, and on doubt.
   */
  settle(tenant: string, refresh: () => Promise<void>): Promise<void>;
}
