/** A caller's filter by trust as Elasticsearch reads it: by the tier that a record has for its reader. Pure. */
import type { QueryClause } from '../domain/scope.ts';
import { TIER } from '../domain/trust.ts';

/** Below these two no confirmation of others changes what a record is worth. */
const { user_stated: STATED, user_confirmed: CONFIRMED, operator: OPERATOR } = TIER;

/**
 * The one clause for records of these tiers (bytes), as guard/confirmation standingFor tells them for `reader` (an owner): what the reader
 * confirmed for themself is user_confirmed, and what its writer alone confirmed is user_stated for everybody else. No tier selects nothing.
 */
export function trustClause(tiers: readonly number[], reader: string): QueryClause {
  const wanted = new Set(tiers);
  const mine = { term: { 'guard.confirmed_for': reader } };
  const ofTiers = (some: readonly number[]): QueryClause => ({ terms: { trust_tier: [...some] } });
  if (tiers.length === 0) return ofTiers([]);
  // the usual floors, for which it does not matter who confirmed
  if ([STATED, CONFIRMED, OPERATOR].every((tier) => wanted.has(tier))) return anyOf([ofTiers(tiers), mine]);
  const confirmed = { bool: { filter: [{ term: { trust_tier: CONFIRMED } }, forReader(reader)] } };
  const low = tiers.filter((tier) => tier < STATED);
  return anyOf([
    ...(low.length === 0 ? [] : [{ bool: { filter: [ofTiers(low)], must_not: [mine] } }]),
    ...(wanted.has(STATED) ? [{ bool: { filter: [ofTiers([STATED, CONFIRMED])], must_not: [mine, confirmed] } }] : []),
    ...(wanted.has(CONFIRMED) ? [confirmed, { bool: { filter: [mine], must_not: [{ term: { trust_tier: OPERATOR } }] } }] : []),
    ...(wanted.has(OPERATOR) ? [{ term: { trust_tier: OPERATOR } }] : []),
  ]);
}

/** A confirmation that counts for them: an admin's who did not write it, their own, or of their own words one of which nobody knows whose it was. */
function forReader(reader: string): QueryClause {
  return anyOf([
    { term: { 'guard.confirmed_by.of_another': true } },
    { term: { 'guard.confirmed_by.principal': reader } },
    { bool: { filter: [{ term: { owner: reader } }], must_not: [{ exists: { field: 'guard.confirmed_by.principal' } }] } },
  ]);
}

function anyOf(should: readonly QueryClause[]): QueryClause {
  return { bool: { should: [...should], minimum_should_match: 1 } };
}
