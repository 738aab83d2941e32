/** Hits as the index brings them, for the unit tests of ranking. */
import type { HitRecord, IndexHit, SearchSpec } from '../../src/domain/ranking.ts';
import { rankContext } from '../../src/ranking/context.ts';
import { engineTotal } from '../../src/ranking/signals/catalogue.ts';
import { ASKED_AT_MS } from './search-specs.ts';

export function recordOf(over: Partial<HitRecord> & { readonly memory_id: string }): HitRecord {
  const time = new Date(ASKED_AT_MS).toISOString();
  return {
    doc_type: 'memory',
    tenant: 'acme',
    namespace: 'user.ann',
    owner: 'o',
    visibility: 'shared',
    layer: 'semantic',
    content: over.memory_id,
    created_at: time,
    valid_from: time,
    event_at: time,
    trust_tier: 3,
    origin: [],
    guard: { verdict: 'allow', rule_ids: [], policy_revision: 'r1' },
    status: 'active',
    version: 1,
    fingerprint: over.memory_id,
    ...over,
  };
}

export interface HitParts {
  /** Cosine of the record's own vector. */
  readonly cos?: number;
  readonly lex?: number;
  readonly spk?: number;
  readonly date?: number;
  readonly exact?: number;
  /** Engine scores of the clauses that may stand in for the own vector. */
  readonly named?: Readonly<Record<string, number>>;
  readonly passage?: string;
}

/** A hit whose `_score` is what the engine would add up. */
export function hitOf(spec: SearchSpec, record: HitRecord, parts: HitParts): IndexHit {
  const context = rankContext(spec);
  const own = parts.cos === undefined ? 0 : ((context.similarity?.primary.boost ?? 0) * (1 + parts.cos)) / 2;
  const sums = Object.fromEntries(
    Object.entries({ lex: parts.lex, spk: parts.spk, date: parts.date, exact: parts.exact }).filter(
      (entry): entry is [string, number] => entry[1] !== undefined,
    ),
  );
  const total = Object.values(sums).reduce((sum, part) => sum + part, 0);
  return {
    record,
    score: Math.fround(total + Math.max(own, 0, ...Object.values(parts.named ?? {})) + engineTotal(record, context)),
    named: { ...sums, ...parts.named },
    ...(parts.passage === undefined ? {} : { passage: parts.passage }),
  };
}
