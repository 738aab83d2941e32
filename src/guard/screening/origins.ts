/** Where hits come from: what counts as one origin, and which hits a reader's own assistant wrote; the screen of a search asks. */
import type { HitRecord } from '../../domain/ranking.ts';
import { INSTRUCTION_TIER, TIER } from '../../domain/trust.ts';

/** Principals whose words a record carries. Tokens, clients and named addresses of one principal are one: it chooses them all. */
export function principalsOf(record: HitRecord): readonly string[] {
  return record.origin.length === 0 ? [record.owner] : [...new Set(record.origin.map(({ principal }) => principal))];
}

/** One origin of a crowd: who brought the record, and by which kind of source. */
export function originKey(record: HitRecord): string {
  const first = record.origin[0];
  return JSON.stringify(first === undefined ? [record.owner] : [first.principal, first.type]);
}

/**
 * True for records that an origin could crowd an answer with: below user_stated, and not what the reader's own assistant inferred without a
 * foreign source (guard.md: the rules never thin out a person's own records).
 */
export function canCrowd(record: HitRecord, reader: string): boolean {
  if (record.trust_tier >= INSTRUCTION_TIER) return false;
  const own = record.origin.every(({ principal, type }) => principal === reader && (type === 'user' || type === 'agent'));
  return !(own && record.trust_tier === TIER.agent_inferred);
}
