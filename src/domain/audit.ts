/** The audit log's words: what a record holds, and the ports through which it is written, read and checked. */
import type { Actor, Principal } from './principal.ts';

/**
 * operation: one call of an operation. refusal: a request refused before it reached one. job: what a background job decided. gap: how many
 * records are missing, and why. start, anchor, stop: the process's own, see AuditHead.
 */
export const AUDIT_RECORD_TYPES = ['operation', 'refusal', 'job', 'gap', 'start', 'anchor', 'stop'] as const;
export type AuditRecordType = (typeof AUDIT_RECORD_TYPES)[number];

/** ok: carried out. denied: not allowed (401, 403, 429). asked: waits for its user's answer. failed: everything else. */
export const AUDIT_OUTCOMES = ['ok', 'denied', 'asked', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Whose records belong to no tenant: of the service itself, and of callers nobody knows. No tenant can have this name. */
export const SERVICE_TENANT = '~service';

/** Where a chain stands. */
export interface AuditHead {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

/** What happened; never memory content and never a query, only ids and keyed hashes. Absent means unknown or none. */
export interface AuditFacts {
  readonly record_type: AuditRecordType;
  readonly tenant: string;
  readonly operation?: string | undefined;
  readonly scope?: string | undefined;
  readonly actor?: Actor | undefined;
  /** Issuer-qualified hash of the subject, as records carry it. */
  readonly owner?: string | undefined;
  readonly client_id?: string | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly memory_ids?: readonly string[] | undefined;
  readonly outcome?: AuditOutcome | undefined;
  /** Code of the error. */
  readonly reason?: string | undefined;
  /** The guard's, and `deny` for what was denied. */
  readonly verdict?: readonly string[] | undefined;
  readonly rule_ids?: readonly string[] | undefined;
  readonly trace_id?: string | undefined;
  readonly query_hmac?: string | undefined;
  readonly content_hmac?: string | undefined;
  readonly count?: number | undefined;
  readonly took_ms?: number | undefined;
  /** Of start, anchor and stop. */
  readonly heads?: readonly AuditHead[] | undefined;
  readonly key_id?: string | undefined;
  /** Counts and words of ours that nothing is looked up by. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

/** A record as stored. `hash` is SHA-256 over all of it but `hash` and `signature`; `prev_hash` is the hash before it in the chain. */
export interface AuditRecord extends AuditFacts {
  readonly chain: string;
  /** 1, 2, 3, … within the chain. */
  readonly seq: number;
  readonly at: string;
  readonly policy_revision: string;
  readonly prev_hash: string;
  readonly hash: string;
  readonly signature?: string;
}

/** A record on its way: `line` is its JSON as it is stored. */
export interface AuditLine extends AuditHead {
  readonly line: string;
}

/** Search values after which a page starts: time in ms, chain, seq. */
export type AuditPosition = readonly [atMs: number, chain: string, seq: number];

/** Conditions that must all hold. */
export interface AuditFilter {
  /** ISO 8601; `from` inclusive, `to` exclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly operation?: string | undefined;
  readonly actor?: string | undefined;
  readonly owner?: string | undefined;
  readonly memory_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly verdict?: string | undefined;
  readonly outcome?: string | undefined;
}

/** A stored record with the id it is stored under. */
export interface StoredAuditRecord {
  readonly id: string;
  readonly record: AuditRecord;
}

/** One moment of the log, for a check of the chains: nothing written later is in it. */
export interface AuditSnapshot {
  /** By chain, then seq; of one tenant, or of all. */
  records(tenant: string | undefined): AsyncIterable<StoredAuditRecord>;
  /** Hash each of these records has now, by id; missing ones are left out. */
  hashes(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

/** Errors: ERR_STORE_*. */
export interface AuditStore {
  /** Creates all of them, in order, under the ids their chain and seq make; a second call changes nothing. Throws unless all are there. */
  append(lines: readonly AuditLine[]): Promise<void>;
  /** Newest first. */
  page(
    tenant: string,
    filter: AuditFilter,
    options: { readonly limit: number; readonly after: AuditPosition | undefined },
  ): Promise<{ readonly records: readonly AuditRecord[]; readonly next: AuditPosition | undefined }>;
  /** Head of the newest start, anchor or stop record; undefined in a new log. */
  lastAnchor(): Promise<AuditHead | undefined>;
  snapshot(): Promise<AuditSnapshot>;
}

/**
 * edited: its hash is not its content's. missing: not there. broken: does not follow the one before. rewritten: not as an anchor saw it.
 * truncated: an anchor saw more. forged: a signature that is not its own, or records of a process that never signed on or had signed off.
 * unknown_key: from the first record concerned to the last, what that process signed is signed with another SERVICE_SECRET: its chains link
 * up, but whether anything was rewritten or cut off cannot be said without that one. former_key: signed with a former SERVICE_SECRET after
 * another one had replaced it, by a process that was not started anew, or by somebody else who has that secret: it vouches for nothing.
 */
export type AuditFaultKind = 'edited' | 'missing' | 'broken' | 'rewritten' | 'truncated' | 'forged' | 'unknown_key' | 'former_key';

export interface AuditFault {
  readonly kind: AuditFaultKind;
  readonly chain: string;
  /** First record concerned. */
  readonly seq: number;
  /** Last record concerned, where there are several. */
  readonly to_seq?: number;
}

/** What a check found. */
export interface AuditReport {
  readonly chains: number;
  readonly records: number;
  readonly anchors: number;
  /** Chains without a stop record: their process runs, or was killed. */
  readonly open_chains: number;
  /** Records of those after their last anchor: what was cut off behind them would leave no trace. */
  readonly unanchored: number;
  /** The first 100. */
  readonly faults: readonly AuditFault[];
  readonly fault_count: number;
}

/** The one writer of a process. */
export interface AuditTrail {
  /** False while the last group could not be stored. */
  readonly up: boolean;
  /**
   * Takes a record. `waiting`: always taken; resolves when it is stored, rejects with ERR_AUDIT_UNAVAILABLE when it cannot be for now (it
   * stays in the queue). Others resolve at once, and are counted and told in a gap record while the queue is full.
   */
  append(facts: AuditFacts, waiting: boolean): Promise<void>;
  /** As a waiting append, and tells the place of the record in its tenant's chain; 0 of one that is not taken any more. */
  begin(facts: AuditFacts): { readonly seq: number; readonly stored: Promise<void> };
  /** Sends what has gathered. Resolves when everything is stored, or cannot be for now. */
  flush(): Promise<void>;
  /** Writes the heads that moved since the last anchor, signed. */
  anchor(): void;
  /** Signs off: the last record is a stop with all heads. Resolves when everything is stored, or cannot be for now. */
  close(): Promise<void>;
}

/** What an operation may ask of the log: its caller's tenant only. */
export interface AuditLog {
  read(
    filter: AuditFilter,
    limit: number,
    cursor: string | undefined,
    by: Principal,
  ): Promise<{ readonly records: readonly AuditRecord[]; readonly next: string | undefined }>;
  /** Ends with the reason of `signal` when nobody waits for it any more. */
  verify(by: Principal, signal: AbortSignal): Promise<AuditReport>;
}
