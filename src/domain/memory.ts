/** The memory record: the closed vocabularies and the shape that wire and index share (snake_case throughout). */

export const LAYERS = ['working', 'episodic', 'semantic', 'strategic'] as const;
export type Layer = (typeof LAYERS)[number];

export const KINDS = [
  'preference',
  'fact',
  'constraint',
  'decision',
  'event',
  'tool_result',
  'error',
  'trajectory',
  'summary',
  'rule',
] as const;
export type Kind = (typeof KINDS)[number];

export const STATUSES = [
  'active',
  'candidate',
  'pending',
  'quarantined',
  'conflict',
  'superseded',
  'archived',
  'forgotten',
  'rejected',
] as const;
export type Status = (typeof STATUSES)[number];

/** Searched when the caller does not ask for others. */
export const DEFAULT_STATUSES: readonly Status[] = ['active', 'conflict'];

/** Put into prompts, and so worth vectors: never a candidate, nothing held back, nothing forgotten. */
export const SEARCHABLE_STATUSES: readonly Status[] = ['active', 'conflict', 'superseded', 'archived'];

/** A write that waits for its confirmation is no longer asked for after a week: nobody remembers then what it was about. */
export const PENDING_LIFE_MS = 7 * 86_400_000;

export const VISIBILITIES = ['private', 'shared'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export const SOURCE_TYPES = ['user', 'agent', 'tool', 'web', 'document', 'email', 'import'] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

export const OUTCOMES = [
  'stored',
  'merged',
  'replaced',
  'conflict',
  'candidate',
  'pending',
  'quarantined',
  'blocked',
  'dropped',
  'duplicate',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const LANGUAGES = ['zh', 'en', 'mixed', 'other'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Origin {
  readonly type: SourceType;
  readonly uri?: string;
  /** Issuer-qualified subject hash of the writer. */
  readonly principal: string;
  readonly client_id?: string;
  readonly connector?: string;
  readonly doc_hash?: string;
  readonly ts: string;
}

/** Who let the texts of a version in. */
export interface Confirmation {
  /** Owner id of that person. */
  readonly principal: string;
  /** True: the words were somebody else's, and an admin decided on them. */
  readonly of_another: boolean;
}

export interface GuardMark {
  readonly verdict: string;
  readonly rule_ids: readonly string[];
  readonly policy_revision: string;
  readonly score?: number;
  /** Where a person let these very texts in; a version with other texts has none. */
  readonly confirmed_by?: Confirmation;
  /** Owner ids of readers who confirmed them for themselves alone. */
  readonly confirmed_for?: readonly string[];
}

export interface Passage {
  /** Offsets into `content` in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** One vector per space, under the space's field name (vec_zh, …), filled by the embed job. */
  readonly [vectorField: `vec_${string}`]: readonly number[] | undefined;
}

/** What people and agents made of a memory: how many said so, each counted once a day, and what follows from it for its rank. */
export interface Feedback {
  readonly useful: number;
  readonly wrong: number;
  readonly outdated: number;
  readonly cited: number;
  /** -1 (everybody calls it wrong) to 1 (everybody calls it useful), 0 without votes. */
  readonly score: number;
  readonly last_at: string;
}

/**
 * One document of a tenant's memory index (head) or versions index (copy, `_id` = `memory_id@version`).
 * Dates are ISO 8601 UTC strings set by the server; numbers 0..1 unless said. Absent means not set.
 */
export interface MemoryRecord {
  // identity
  readonly doc_type: 'memory';
  readonly memory_id: string;
  readonly tenant: string;
  readonly namespace: string;
  readonly generation: number;
  /** Issuer-qualified subject hash (domain/principal). */
  readonly owner: string;
  readonly created_by: { readonly sub: string; readonly client_id?: string; readonly actor: string };
  readonly visibility: Visibility;
  readonly layer: Layer;
  readonly kind?: Kind;
  readonly subject?: string;
  readonly topic?: string;
  readonly domain?: string;
  readonly task_type?: string;
  readonly session_id?: string;
  readonly task_id?: string;
  readonly turn?: number;
  readonly prev_turn_id?: string;
  readonly next_turn_id?: string;
  // text
  readonly title?: string;
  readonly content: string;
  readonly summary?: string;
  readonly keywords?: readonly string[];
  readonly tags?: readonly string[];
  readonly entities?: readonly string[];
  readonly codes?: readonly string[];
  readonly language: Language;
  readonly lex_uni?: string;
  readonly lex_bi?: string;
  readonly lex_word?: string;
  readonly lex_context?: string;
  readonly lex_summary?: string;
  readonly lex_subject?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly passages?: readonly Passage[];
  /** One unit vector per space, filled by the embed job. */
  readonly [vectorField: `vec_${string}`]: readonly number[] | undefined;
  readonly spaces_ready?: readonly string[];
  readonly spaces_due?: readonly string[];
  readonly embed_tries?: number;
  readonly embed_error?: string;
  // worth
  readonly importance?: number;
  readonly confidence?: number;
  readonly access_level?: number;
  readonly last_access_day?: string;
  readonly hit_count?: number;
  readonly pinned?: boolean;
  readonly legal_hold?: boolean;
  readonly doubt?: number;
  readonly feedback?: Feedback;
  // time
  readonly created_at: string;
  readonly updated_at: string;
  readonly occurred_at?: string;
  readonly valid_from: string;
  readonly valid_to?: string;
  readonly event_at: string;
  readonly expires_at?: string;
  // trust
  readonly trust_tier: number;
  readonly origin: readonly Origin[];
  readonly parents?: readonly string[];
  readonly taint?: readonly string[];
  readonly guard: GuardMark;
  readonly sensitivity?: string;
  /** What was masked and kept (keys/sealed-values): base64, opened by reveal alone; null once forgotten. */
  readonly sealed?: string | null;
  /** Tenant key that opens `sealed`. */
  readonly key_id?: string | null;
  readonly masked?: readonly string[];
  // life
  readonly status: Status;
  readonly version: number;
  readonly supersedes?: readonly string[];
  readonly superseded_by?: string;
  readonly conflict_with?: readonly string[];
  readonly reason?: string;
  /** It was written to be kept as it was given: no job merges it or puts another in its place. */
  readonly admission?: 'keep';
  readonly fingerprint: string;
  readonly lease_until?: string;
  readonly lease_by?: string;
  readonly tries?: number;
  readonly triggers?: readonly string[];
  readonly counter_examples?: readonly string[];
}

/** Compare-and-set position of a stored document; internal only, never on the wire. */
export interface SeqNo {
  readonly seq_no: number;
  readonly primary_term: number;
}

/** A document read back from the index, with its position. */
export interface StoredRecord {
  readonly record: MemoryRecord;
  readonly at: SeqNo;
}
