/** What the audit log keeps of a call: ids, namespaces, verdicts and keyed hashes, read from its checked input and output; never a text. Pure. */
import { createHmac } from 'node:crypto';
import type { AuditFacts } from '../domain/audit.ts';
import { isNamespace } from '../domain/namespace.ts';
import { VERDICTS } from '../domain/trust.ts';
import { memoryId } from '../domain/wire/common.ts';
import { normaliseForFingerprint } from '../text/clean.ts';

type Json = Readonly<Record<string, unknown>>;

export type CallFacts = Pick<AuditFacts, 'memory_ids' | 'namespaces' | 'verdict' | 'rule_ids' | 'count' | 'detail'>;

export interface Hashing {
  /** Makes the hashes; each tenant's are its own. */
  readonly key: Uint8Array;
  /** The same fields with secrets and personal data masked: a hash of them would tell a guess from the truth. */
  readonly mask: <T extends object>(texts: T) => T;
}

/** An import names up to 500 new ones and as many that they replace. */
const MAX_IDS = 1_000;
const MAX_NAMES = 100;
/** Lists of things with ids; other members are not looked into: metadata is the caller's. */
const LISTS = ['results', 'hits', 'items', 'sample', 'sentences', 'recalls', 'neighbours', 'why_not'] as const;
/** A recall holds hits. */
const MAX_DEPTH = 2;
const ID_FIELDS = ['memory_id', 'merged_into', 'candidate_id', 'superseded_by'] as const;
const ID_LISTS = ['memory_ids', 'replaced'] as const;
const RULE_ID = /^[a-z0-9][a-z0-9@_.:-]{0,127}$/i;
const KNOWN_VERDICTS: ReadonlySet<string> = new Set(VERDICTS);

/** `input` only when it fits its schema. */
export function callFacts(input: Json | undefined, output: Json | undefined): CallFacts {
  const found = new Found();
  for (const part of [input, output]) if (part !== undefined) found.take(part);
  return {
    memory_ids: list(found.ids),
    namespaces: list(found.namespaces),
    verdict: list(found.verdicts),
    rule_ids: list(found.rules),
    count: countOf(output),
    detail: detailOf(input, output),
  };
}

/** What a value may be cut in two over (guard/secrets/mask-fields) stands beside the texts that are hashed. */
const HASHED_WITH = ['title', 'content', 'summary', 'query', 'queries'] as const;

/** Keyed hashes of the masked query and content of a checked input, where it has them. */
export function textHashes(
  input: Json | undefined,
  tenant: string,
  { key, mask }: Hashing,
): Pick<AuditFacts, 'query_hmac' | 'content_hmac'> {
  if (input === undefined || (input['content'] ?? input['query'] ?? input['queries']) === undefined) return {};
  const masked: Json = mask(pick(input, HASHED_WITH));
  return {
    query_hmac: hmacOf('query', askedOf(masked), tenant, key),
    content_hmac: hmacOf('content', masked['content'], tenant, key),
  };
}

/** What was looked for; of two wordings both, a line each. */
function askedOf(input: Json): unknown {
  const texts = [input['query'], ...arrayOf(input['queries'])].filter((text) => typeof text === 'string');
  return texts.length === 0 ? undefined : [...new Set(texts)].join('\n');
}

/** HMAC-SHA-256 of a text in the form equal texts share, 43 characters; the same text has another one in another tenant and field. */
function hmacOf(field: string, text: unknown, tenant: string, key: Uint8Array): string | undefined {
  if (typeof text !== 'string') return undefined;
  return createHmac('sha256', key)
    .update(`${field}\0${tenant}\0${normaliseForFingerprint(text)}`)
    .digest('base64url');
}

class Found {
  readonly ids = new Set<string>();
  readonly namespaces = new Set<string>();
  readonly verdicts = new Set<string>();
  readonly rules = new Set<string>();

  take(part: Json, depth = 0): void {
    for (const field of ID_FIELDS) this.#id(part[field]);
    for (const field of ID_LISTS) for (const id of arrayOf(part[field])) this.#id(id);
    for (const name of [part['namespace'], ...arrayOf(part['namespaces'])])
      if (typeof name === 'string' && isNamespace(name) && this.namespaces.size < MAX_NAMES) this.namespaces.add(name);
    const mark = objectOf(part['guard']);
    if (mark !== undefined) this.#guard(mark);
    if (depth >= MAX_DEPTH) return;
    for (const field of LISTS)
      for (const item of arrayOf(part[field])) {
        const inner = objectOf(item);
        if (inner !== undefined) this.take(inner, depth + 1);
      }
  }

  #id(id: unknown): void {
    // what is not an id may be anything
    if (typeof id === 'string' && this.ids.size < MAX_IDS && memoryId.safeParse(id).success) this.ids.add(id);
  }

  #guard(mark: Json): void {
    const verdict = mark['verdict'];
    if (typeof verdict === 'string' && KNOWN_VERDICTS.has(verdict)) this.verdicts.add(verdict);
    for (const rule of arrayOf(mark['rule_ids']))
      if (typeof rule === 'string' && this.rules.size < MAX_NAMES && RULE_ID.test(rule)) this.rules.add(rule);
  }
}

/** How many things the answer is about. */
function countOf(output: Json | undefined): number | undefined {
  for (const field of ['forgotten', 'count']) if (typeof output?.[field] === 'number') return output[field];
  for (const field of LISTS) if (Array.isArray(output?.[field])) return output[field].length;
  return undefined;
}

/** Outcomes with how often they came, and what was decided: words of closed sets. */
function detailOf(input: Json | undefined, output: Json | undefined): CallFacts['detail'] {
  const outcomes: Record<string, number> = {};
  for (const item of [output, ...arrayOf(output?.['results'])]) {
    const outcome = objectOf(item)?.['outcome'];
    if (typeof outcome === 'string') outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  const detail = {
    ...(Object.keys(outcomes).length === 0 ? {} : { outcomes }),
    ...pick(input, ['decision', 'mode', 'dry_run', 'collect', 'visibility', 'raw', 'invalid']),
  };
  return Object.keys(detail).length === 0 ? undefined : detail;
}

/** Members that hold words of the schema or booleans. */
function pick(input: Json | undefined, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap((field) => (input?.[field] === undefined ? [] : [[field, input[field]]])));
}

const list = (values: ReadonlySet<string>): readonly string[] | undefined => (values.size === 0 ? undefined : [...values]);
const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const objectOf = (value: unknown): Json | undefined => (typeof value === 'object' && value !== null ? (value as Json) : undefined);
