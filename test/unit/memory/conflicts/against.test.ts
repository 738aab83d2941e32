/** What a new memory does to somebody else's: what its writer alone confirmed stands there as what everybody states. */
import { expect } from 'chai';
import { join } from 'node:path';
import type { Confirmation, MemoryRecord } from '../../../../src/domain/memory.ts';
import { tierAgainst, trustedMore } from '../../../../src/guard/confirmation.ts';
import { against } from '../../../../src/memory/conflicts/against.ts';
import { loadRelationPolicy } from '../../../../src/memory/conflicts/relation-policy.ts';
import { memoryRecord } from '../../../support/records.ts';

const policy = loadRelationPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies'));
const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-06-01T00:00:00Z');

function said(owner: string, content: string, trust_tier: number, by?: Confirmation): MemoryRecord {
  const created_at = new Date(NOW_MS - (owner === 'bob' ? DAY_MS : 0)).toISOString();
  const record = memoryRecord({ owner, content, trust_tier, visibility: 'shared', layer: 'semantic', kind: 'fact', created_at });
  return by === undefined ? record : { ...record, guard: { ...record.guard, confirmed_by: by } };
}

describe('a new memory against what somebody else confirmed of their own', () => {
  const before = 'The weekly report is due on Monday.';
  const after = 'The weekly report is due on Friday.';
  const confirmed = said('bob', before, 4, { principal: 'bob', of_another: false });
  const does = (head: MemoryRecord, record: MemoryRecord, admin = false): string =>
    against(head, record, policy, { admin, nowMs: NOW_MS }).does;

  it('is as trusted as it: nobody’s yes to their own words counts against others', () => {
    expect([tierAgainst(confirmed, 'ann'), tierAgainst(confirmed, 'bob')]).to.deep.equal([3, 4]);
    expect(trustedMore(said('ann', after, 3), confirmed)).to.equal(0);
    expect(does(confirmed, said('ann', after, 3), true), 'an admin’s does not end it: for its writer it is more').to.equal('contest');
    expect(does(confirmed, said('ann', after, 3)), 'without that right').to.equal('contest');
    expect(does(confirmed, said('ann', before, 3)), 'the same again takes nothing from it').to.equal('repeat');
    expect(does(said('bob', before, 3), said('ann', before, 4, { principal: 'ann', of_another: false })), 'nor is it taken in').to.equal(
      'beside',
    );
  });

  it('is less trusted where an admin confirmed it, and where its writer says it again', () => {
    const byAdmin = said('bob', before, 4, { principal: 'root', of_another: true });
    expect(trustedMore(said('ann', after, 3), byAdmin)).to.equal(-1);
    expect(does(byAdmin, said('ann', after, 3), true)).to.equal('contest');
    const own = { ...said('bob', after, 3), created_at: new Date(NOW_MS).toISOString() };
    expect(does(confirmed, own), 'of bob himself').to.equal('contest');
  });

  it('never outranks by its own writer’s confirmation', () => {
    const anns = said('ann', after, 4, { principal: 'ann', of_another: false });
    expect(trustedMore(anns, said('bob', before, 3))).to.equal(0);
    expect(does(said('bob', before, 3), anns)).to.equal('contest');
    expect(does(said('bob', before, 3), said('ann', after, 4, { principal: 'root', of_another: true })), 'an admin’s word does').to.equal(
      'doubt',
    );
  });
});
