/** How an audit record is spelled, hashed and linked to the one before it; used by the trail that writes and the check that reads. Pure. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { AuditFacts, AuditLine, AuditRecord } from '../../domain/audit.ts';

/** Longest text of a field that comes from outside. */
const MAX_TEXT_CHARS = 256;
/** Control characters, line and paragraph separators, and marks that change the direction of what follows. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A text from outside with what could break a line or a terminal spelled as <U+…>, cut to 256 characters. */
export function plain(text: string): string {
  const spelled = text.replace(UNSAFE, (char) => `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`);
  return spelled.slice(0, MAX_TEXT_CHARS).toWellFormed();
}

/** A tenant's chain in one process. */
export function chainOf(processId: string, tenant: string): string {
  return `${processId}-${createHash('sha256').update(tenant).digest('hex').slice(0, 20)}`;
}

/** What the first record of a chain has as prev_hash. */
export function genesisOf(chain: string): string {
  return createHash('sha256').update(`hindsight-es/audit/v1|${chain}`).digest('hex');
}

/** Id a record is stored under: a second one of the same chain and seq cannot be created. */
export function recordId(chain: string, seq: number): string {
  return `${chain}.${seq}`;
}

/** Hash of a stored record: over everything but `hash` and `signature`. */
export function hashOf(record: Readonly<Record<string, unknown>>): string {
  return sha256(canonicalJson({ ...record, hash: undefined, signature: undefined }));
}

export interface Link {
  readonly chain: string;
  readonly seq: number;
  readonly prevHash: string;
  readonly at: string;
  readonly policyRevision: string;
}

/** The record spelled, with its hash; `sign` makes the signature of a hash where the record needs one. */
export function spell(facts: AuditFacts, link: Link, sign?: (hash: string) => string): AuditLine {
  const { chain, seq, prevHash, at, policyRevision } = link;
  const record: Omit<AuditRecord, 'hash'> = { ...facts, chain, seq, at, policy_revision: policyRevision, prev_hash: prevHash };
  const text = canonicalJson(record);
  const hash = sha256(text);
  const signature = sign === undefined ? '' : `,"signature":"${sign(hash)}"`;
  return { chain, seq, hash, line: `${text.slice(0, -1)},"hash":"${hash}"${signature}}` };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
