/** A filter by trust finds what a record is worth to its reader, as the screen tells it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { TIER_NAMES } from '../../../src/domain/trust.ts';
import { trustClause } from '../../../src/elastic/trust-filter.ts';
import { standingFor } from '../../../src/guard/confirmation.ts';
import { matches } from '../../support/query-interpreter.ts';
import { memoryRecord } from '../../support/records.ts';

const OWNERS = ['ann', 'bob', 'cy'];
const owner = fc.constantFrom(...OWNERS);
const record = fc
  .record({
    owner,
    tier: fc.integer({ min: 0, max: TIER_NAMES.length - 1 }),
    by: fc.option(fc.record({ principal: owner, of_another: fc.boolean() }), { nil: undefined }),
    readers: fc.uniqueArray(owner),
  })
  .map(({ owner: of, tier, by, readers }) =>
    memoryRecord({
      owner: of,
      trust_tier: tier,
      guard: {
        verdict: 'allow',
        rule_ids: [],
        policy_revision: 'r1',
        ...(by === undefined ? {} : { confirmed_by: by }),
        ...(readers.length === 0 ? {} : { confirmed_for: readers }),
      },
    }),
  );

describe('a filter by trust', () => {
  it('selects a record by the tier that it has for its reader, whoever confirmed it', () => {
    fc.assert(
      fc.property(record, owner, fc.uniqueArray(fc.integer({ min: 0, max: TIER_NAMES.length - 1 })), (one, reader, tiers) => {
        const { tier } = standingFor(one, reader);
        expect(matches(trustClause(tiers, reader), one as unknown as Record<string, unknown>)).to.equal(tiers.includes(tier));
      }),
      { numRuns: 2_000 },
    );
  });
});
