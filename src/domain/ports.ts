/** Ports: what memory and jobs need from the stores; elastic/ and stores/ implement them. */
import type { MemoryRecord, SeqNo, StoredRecord } from './memory.ts';
import type { SearchPage, SearchSpec } from './ranking.ts';
import type { Admitted, Scoped, Unscreened } from './sealed.ts';
import type { HeldSlot, SlotClaim } from './slots.ts';
import type { Filter } from './wire/common.ts';
import type { DroppedText, KeptSlot, KeptTurn, SessionKey, SessionQuery, TurnRole } from './working.ts';

export type CreateOutcome = { readonly outcome: 'created' | 'exists' } | { readonly outcome: 'failed'; readonly reason: string };

/** What came of one patch: `refused` and `away` are the store's refusal of this one item, for good or for now; the others are stored. */
export type PatchOutcome = 'replaced' | 'conflict' | 'missing' | 'refused' | 'away';

/** Conditions no caller can give: the service's own look-ups by what records refer to. Several values are alternatives. */
export interface LinkFilter {
  readonly memory_id?: readonly string[];
  readonly owner?: readonly string[];
  readonly session_id?: readonly string[];
  readonly turn?: readonly number[];
  readonly prev_turn_id?: readonly string[];
  readonly conflict_with?: readonly string[];
  readonly parents?: readonly string[];
  readonly fingerprint?: readonly string[];
  readonly namespace?: readonly string[];
  readonly generation?: readonly number[];
  readonly visibility?: readonly string[];
}

/** A look for memories that say nearly the same. */
export interface SimilarSpec {
  readonly links: LinkFilter;
  /** Distinct terms of `lex_uni`. */
  readonly terms: readonly string[];
  /** Share of the terms that a memory must hold, 0..1. */
  readonly share: number;
  readonly limit: number;
}

/** A look for memories whose vector is near a given one. */
export interface NearestSpec {
  readonly links: LinkFilter;
  /** dense_vector field of the space. */
  readonly field: string;
  /** Of length 1. */
  readonly vector: Float32Array;
  /** Cosine from which on a memory is near. */
  readonly cosine: number;
  readonly limit: number;
}

export interface ListSpec {
  readonly filter: Filter;
  readonly links?: LinkFilter;
  readonly limit: number;
  /** Sort values after which the page starts: [created_at ms, memory_id]. */
  readonly after: readonly [number, string] | undefined;
}

/** A record whose predecessors are looked up. */
export type PredecessorLook = Pick<MemoryRecord, 'memory_id' | 'version' | 'supersedes'>;

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
    | 'feedback'
    | 'doubt'
  >
>;

/** The end of a record: it can be taken away without the guard, never given. */
type ForgetPatch = Pick<MemoryRecord, 'reason' | 'version' | 'updated_at' | 'valid_from' | 'created_by'> & {
  readonly status: 'forgotten';
  readonly spaces_due: readonly [];
  /** Taken away, where there was something sealed. */
  readonly sealed?: null;
  readonly key_id?: null;
};

/** What may be written without the guard's admission. */
export type RecordPatch = DerivedPatch | ForgetPatch;

/** Languages present, and whether any record has passages, and any a summary. */
export interface NamespaceContents {
  readonly languages: ReadonlySet<string>;
  readonly passages: boolean;
  readonly summaries: boolean;
}

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
  /** For each `_score` of the one query how many records have it or a better one; the conditions are those of the search. */
  places(of: Scoped<{ readonly spec: SearchSpec; readonly scores: readonly number[] }>): Promise<readonly number[]>;
  /** For each look the memories with most of its terms, as the last refresh shows them; one request, vectors left out. */
  similar(looks: readonly Scoped<SimilarSpec>[]): Promise<readonly Unscreened<readonly MemoryRecord[]>[]>;
  /** For each look the memories with the nearest vectors, nearest first, as the last refresh shows them; one request, vectors left out. */
  nearest(looks: readonly Scoped<NearestSpec>[]): Promise<readonly Unscreened<readonly MemoryRecord[]>[]>;
  /** Where records of a namespace stand that name one of these parents, whoever's and of any status, as the last refresh shows them: no text. */
  madeOf(tenant: string, namespace: string, parents: readonly string[]): Promise<readonly RecordRef[]>;
  /** Newest first, by created_at then memory_id; vectors left out. */
  list(spec: Scoped<ListSpec>): Promise<Unscreened<ListPage>>;
  /** How many fit, in all and by namespace, and how many of them are due for vectors or were given up. */
  tally(filter: Scoped<{ readonly filter: Filter }>): Promise<Tally>;
  /** Point in time + search_after over all that fits, in pages; vectors left out. */
  scan(filter: Scoped<{ readonly filter: Filter; readonly pageSize: number }>): AsyncIterable<Unscreened<readonly MemoryRecord[]>>;
  /** Whole-document replace with if_seq_no; 'conflict' when it moved in between. */
  replace(record: Admitted<MemoryRecord>, at: SeqNo): Promise<'replaced' | 'conflict'>;
  /** Partial updates by doc, each with its position; in order. Throws only when nothing got through to the store. */
  patchMany(
    tenant: string,
    patches: readonly { readonly memoryId: string; readonly patch: RecordPatch; readonly at: SeqNo }[],
  ): Promise<readonly PatchOutcome[]>;
  /** Copy of a version, `_id` = memory_id@version, op_type=create: a second call changes nothing. */
  saveVersion(copy: Admitted<MemoryRecord>): Promise<void>;
  /** Takes what is sealed out of the copies of these memories' versions; safe to repeat. */
  dropSealedCopies(tenant: string, memoryIds: readonly string[]): Promise<void>;
  /** Earlier versions, newest first, the newest 50 of them; the head is not among them. With `version` that one alone, however old. */
  versions(of: Scoped<{ readonly memoryId: string; readonly version?: number }>): Promise<Unscreened<readonly MemoryRecord[]>>;
  /** What stood before these: each one's `steps` next earlier versions and the heads it supersedes, in any order; one realtime request, vectors left out. */
  predecessors(
    of: Scoped<{ readonly of: readonly PredecessorLook[]; readonly steps: number }>,
  ): Promise<Unscreened<readonly MemoryRecord[]>>;
  /** Makes all acknowledged writes of the tenant visible to searches. */
  refresh(tenant: string): Promise<void>;
  /** What the namespaces in scope hold. Cached for 60 s, told of writes by `noteWritten`. */
  holdings(scope: Scoped<{ readonly key: string }>): Promise<NamespaceContents>;
  noteWritten(tenant: string, namespaces: readonly string[]): void;
}

export interface Tally {
  readonly total: number;
  /** Largest first, at most 1,000. */
  readonly namespaces: readonly { readonly namespace: string; readonly count: number }[];
  readonly due: number;
  readonly dead: number;
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
  /** Switches collecting; the record is made when there is none. Other processes follow within a minute. */
  setCollect(tenant: string, namespace: string, owner: string, collect: NamespaceRecord['collect']): Promise<NamespaceRecord>;
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
  /**
   * `key` is the already keyed HMAC(tenant|sub|route|key), `payload` the HMAC of the payload; op_type=create. A record older than
   * LIMITS.idempotencyHours counts as absent, swept or not.
   */
  claim(key: string, payload: string, memoryIds: readonly string[]): Promise<IdempotencyClaim>;
  finish(key: string, answer: unknown): Promise<void>;
  /** The call ended without a lasting answer: a repeat may run at once, under the same ids. Never throws. */
  release(key: string): Promise<void>;
  /** The call was refused before it stored anything: the key is free, for another payload too. Never throws. */
  withdraw(key: string): Promise<void>;
  /** Deletes up to `limit` expired records; how many it found. */
  sweep(limit: number): Promise<number>;
}

/** Access counters, flushed in batches to the stats sidecar; access_level of the head moves with them. */
export interface AccessStats {
  record(tenant: string, memoryIds: readonly string[]): void;
}

/** A record claimed for embedding. */
export interface EmbedTask {
  readonly tenant: string;
  readonly record: StoredRecord;
}

/** Why records were given up: the model refused the text, the endpoint failed on it, the store refused its vectors. */
export type DeadReason = 'rejected' | 'unavailable' | 'store' | 'other';

/** Counts over all tenants. */
export interface QueueDepth {
  /** Due in a space of this process and not given up. */
  readonly due: number;
  /** Given up after the last try (embed_tries at the limit); tried once a day. */
  readonly dead: number;
  readonly deadBy: Readonly<Record<DeadReason, number>>;
  /** Due in spaces of another model alone: another version's work, or nobody's any more. */
  readonly foreign: number;
}

/** Records due in the spaces of this process; what other spaces are due is not its business. */
export interface EmbedQueue {
  /** Tenants with due records: names and counts only (with reembedding's, the one cross-tenant query). */
  dueTenants(): Promise<readonly { readonly tenant: string; readonly count: number }[]>;
  /** Takes a lease on up to `limit` due records that nobody holds and that do not rest after their last try (batch of if_seq_no updates). */
  claim(tenant: string, options: { readonly limit: number; readonly leaseMs: number; readonly by: string }): Promise<readonly EmbedTask[]>;
  /** Prolongs leases by position; answers the new positions by memory id. A record that moved meanwhile is left out. */
  renew(tenant: string, held: readonly StoredRecord[], leaseMs: number): Promise<ReadonlyMap<string, SeqNo>>;
  depth(): Promise<QueueDepth>;
}

/** What reembedding must know of a record. */
export interface ReembedCandidate {
  readonly record: Pick<
    MemoryRecord,
    'memory_id' | 'title' | 'content' | 'updated_at' | 'spaces_ready' | 'spaces_due' | 'embed_tries' | 'lease_until'
  >;
  readonly at: SeqNo;
}

/** Searchable records that may want a space of this process which they neither have nor are due for, or are due in other spaces alone. */
export interface ReembedQueue {
  tenants(): Promise<readonly { readonly tenant: string; readonly count: number }[]>;
  /** By memory_id, after `after`; `next` is undefined on the last page. */
  page(
    tenant: string,
    options: { readonly after: string | undefined; readonly limit: number },
  ): Promise<{ readonly candidates: readonly ReembedCandidate[]; readonly next: string | undefined }>;
}

/** A tenant's claims on texts and slots: made with op_type=create, moved by compare-and-set. Failures: ERR_STORE_*. */
export interface SlotStore {
  /** In one bulk, in order: as made now or as it stands there already; undefined for one that was released in the same moment. */
  claim(tenant: string, claims: readonly SlotClaim[]): Promise<readonly (HeldSlot | undefined)[]>;
  /** Realtime; missing ones are left out. */
  read(tenant: string, ids: readonly string[]): Promise<readonly HeldSlot[]>;
  /** Each replaced at its position; in order, with the new position. */
  move(tenant: string, moves: readonly HeldSlot[]): Promise<readonly (HeldSlot | 'conflict')[]>;
  /** Deletes the claims that still name this memory; one whose move is under way stays for the repair. Safe to repeat. */
  release(tenant: string, claims: readonly { readonly id: string; readonly memoryId: string }[]): Promise<void>;
  /** Tenants with claims whose move nobody ended in time, and how many. */
  dueTenants(): Promise<readonly { readonly tenant: string; readonly count: number }[]>;
  /** Those of a tenant, the oldest lease first. */
  unfinished(tenant: string, limit: number): Promise<readonly HeldSlot[]>;
}

/** A turn that has lost the words it borrowed, and where it stands. */
export type DetachedTurn = Pick<MemoryRecord, 'memory_id' | 'tenant' | 'namespace' | 'owner'>;

export interface DetachedTurns {
  /** Up to `limit` turns of any tenant that were cut loose a minute ago or longer. */
  left(limit: number): Promise<readonly DetachedTurn[]>;
}

/** Where a record stands: what the service needs to load it by. */
export type RecordRef = Pick<MemoryRecord, 'memory_id' | 'tenant' | 'namespace' | 'owner'>;

/** Searchable records by how they were judged; searches that change nothing. */
export interface RescanQueue {
  /** Tenants with records that another policy revision judged; `latest`: when the last of them was changed. */
  judgedBefore(revision: string): Promise<readonly { readonly tenant: string; readonly count: number; readonly latest: string }[]>;
  /** Those of a tenant by memory_id, after `after`, and changed after `since` where that is given; `next` is undefined on the last page. */
  refsJudgedBefore(
    tenant: string,
    options: {
      readonly revision: string;
      readonly since: string | undefined;
      readonly after: string | undefined;
      readonly limit: number;
    },
  ): Promise<{ readonly refs: readonly RecordRef[]; readonly next: string | undefined }>;
  /** Every tenant with searchable records. */
  withRecords(): Promise<readonly string[]>;
  /** Records drawn at random, the same ones for the same seed while the index stands still. */
  drawn(tenant: string, options: { readonly size: number; readonly seed: number }): Promise<readonly RecordRef[]>;
}

/** How far the rescan of a tenant is. */
export interface RescanMark {
  /** Revision that all records changed up to `covered_until` have been judged by, or are being judged by. */
  readonly policy_revision: string;
  readonly covered_until?: string;
  /** Set while a pass is under way; `after` is the last memory_id judged. */
  readonly begun_at?: string;
  readonly after?: string;
  /** Counts of the pass. */
  readonly checked: number;
  readonly held: number;
  readonly reported: number;
}

/** Marks that outlive the process and are shared by all processes; every write is a compare-and-set. */
export interface RescanMarks {
  mark(tenant: string): Promise<{ readonly mark: RescanMark; readonly at: SeqNo } | undefined>;
  /** `at` undefined: there is none yet. */
  keepMark(tenant: string, mark: RescanMark, at: SeqNo | undefined): Promise<'kept' | 'conflict'>;
  /** True for one of all who ask for this night (YYYY-MM-DD) of a tenant. */
  claimNight(tenant: string, night: string): Promise<boolean>;
}

/** Writes that waited for a person's decision until their time was over. */
export interface ExpiredPending {
  /** Up to `limit` of any tenant that were created at `until` (ISO 8601) or before. */
  createdUntil(until: string, limit: number): Promise<readonly RecordRef[]>;
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

/**
 * Working memory: turns and task state of sessions for an hour after their last use, and for a day what admission dropped and which texts
 * were returned. A session is its owner's. What a write answers for is kept; it throws ERR_WORKING_UNAVAILABLE while the store is away.
 * Reads answer undefined then. Notes are best effort: they never throw and are soon through.
 */
export interface WorkingMemory {
  /** Puts the turn at the end of the record's session; how many there are now. */
  addTurn(turn: Admitted<MemoryRecord>, role: TurnRole): Promise<number>;
  /** Oldest first. Reading turns or state prolongs the life of both. */
  turns(of: Scoped<SessionQuery>): Promise<Unscreened<readonly KeptTurn[]> | undefined>;
  /**
   * The members of the record's metadata as slots: besides those there are (`merge`, without those in `remove`) or in their place
   * (`replace`). `too_large`, and nothing changed, when all of them together would be.
   */
  putState(slots: Admitted<MemoryRecord>, mode: 'merge' | 'replace', remove: readonly string[]): Promise<'kept' | 'too_large'>;
  /** By name. */
  state(of: Scoped<SessionQuery>): Promise<Unscreened<readonly KeptSlot[]> | undefined>;
  noteDropped(text: Admitted<MemoryRecord>, reason: string): Promise<void>;
  /** Oldest first. */
  dropped(of: Scoped<SessionQuery>): Promise<Unscreened<readonly DroppedText[]> | undefined>;
  noteReturned(session: SessionKey, fingerprints: readonly string[]): Promise<void>;
  /** False while the store is away. */
  wasReturned(session: SessionKey, fingerprint: string): Promise<boolean>;
}

/** A sealed text and the id of the tenant key that opens it. */
export interface Sealed {
  /** base64 of version | nonce | ciphertext | tag. */
  readonly sealed: string;
  readonly keyId: string;
}

/**
 * The keys of tenants, made on first use and kept wrapped by MASTER_KEY. `aad` names what a value belongs to (memory id and field): a value
 * moved elsewhere does not open. Failures: ERR_KEY_DELETED once an administrator has deleted the tenant's key, ERR_KEYS_UNAVAILABLE when
 * MASTER_KEY does not open it, ERR_STORE_*. Unwrapped keys are kept for a minute: in between a call costs microseconds.
 */
export interface TenantKeys {
  seal(tenant: string, plaintext: string, aad: string): Promise<Sealed>;
  /** ERR_SEAL_BROKEN for a value that was changed, moved, or sealed by a key that the tenant never had here. Never makes a key. */
  open(tenant: string, sealed: string, keyId: string, aad: string): Promise<string>;
  /** Keyed HMAC-SHA256 of a value, base64url: equal for equal kind and value in one tenant, and in no other; the same after every rotation. */
  fingerprint(tenant: string, kind: string, value: string): Promise<string>;
}
