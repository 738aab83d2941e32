/** Whose confirmation counts for whom: the reader's own, an admin's of somebody else's words, and a writer's for the writer alone. */
import { expect } from 'chai';
import type { Confirmation } from '../../../src/domain/memory.ts';
import { openAdmitted } from '../../../src/domain/sealed.ts';
import { HindsightError } from '../../../src/errors.ts';
import { confirmationBy, confirmedFor, mayInstruct, standingFor } from '../../../src/guard/confirmation.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord, testGuard, trustPolicy } from '../../support/records.ts';

const [ann, bob, root] = ['ann', 'bob', 'root'].map((sub) => principal({ sub, scopes: ['memory:confirm', 'memory:admin'] })) as [
  ReturnType<typeof principal>,
  ReturnType<typeof principal>,
  ReturnType<typeof principal>,
];
const record = (trust_tier: number, confirmed_by?: Confirmation) => {
  const made = memoryRecord({ owner: bob.owner, visibility: 'shared', trust_tier });
  return confirmed_by === undefined ? made : { ...made, guard: { ...made.guard, confirmed_by } };
};

describe('confirmations', () => {
  it('by the writer count for the writer alone, by an admin who is not the writer for every reader', () => {
    const own = record(4, confirmationBy(bob, bob.owner));
    expect([ann, bob, root].map(({ owner }) => confirmedFor(own, owner))).to.deep.equal([false, true, false]);
    const admins = record(4, confirmationBy(root, bob.owner));
    expect([ann, bob, root].map(({ owner }) => confirmedFor(admins, owner))).to.deep.equal([true, true, true]);
    const plain = principal({ sub: 'ann', scopes: ['memory:confirm'] });
    expect([ann, bob, root].map(({ owner }) => confirmedFor(record(4, confirmationBy(plain, bob.owner)), owner))).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it('of which nobody knows whose they were count for the owner, and none does below user_confirmed', () => {
    expect([ann, bob].map(({ owner }) => confirmedFor(record(4), owner))).to.deep.equal([false, true]);
    expect([ann, bob].map(({ owner }) => confirmedFor(record(3, confirmationBy(root, bob.owner)), owner))).to.deep.equal([false, false]);
    expect([ann, bob].map(({ owner }) => confirmedFor(record(5), owner))).to.deep.equal([true, true]);
  });

  it('decide with the owner, not with rules, what may instruct', () => {
    expect([ann, bob].map(({ owner }) => mayInstruct(record(3), owner))).to.deep.equal([false, true]);
    expect([ann, bob].map(({ owner }) => mayInstruct(record(2), owner))).to.deep.equal([false, false]);
    // words that an admin put into his memory and let in himself
    expect([ann, bob].map(({ owner }) => mayInstruct(record(3, confirmationBy(root, root.owner)), owner))).to.deep.equal([false, false]);
    const flagged = record(3);
    expect(mayInstruct({ ...flagged, guard: { ...flagged.guard, rule_ids: ['mask-phone'] } }, bob.owner)).to.equal(true);
  });

  it('of a reader for themself count for that reader alone, whatever the tier, and can be taken back', () => {
    const guard = testGuard();
    const stated = record(2);
    const forAnn = openAdmitted(guard.confirmForSelf(stated, ann, true));
    expect(forAnn).to.deep.include({ trust_tier: 2, status: stated.status, version: stated.version });
    expect(forAnn.guard.confirmed_for).to.deep.equal([ann.owner]);
    expect([ann, bob, root].map(({ owner }) => mayInstruct(forAnn, owner))).to.deep.equal([true, false, false]);
    expect(standingFor(forAnn, ann.owner)).to.deep.equal({ tier: 4, confirmedBy: 'you' });
    expect(standingFor(forAnn, root.owner)).to.deep.equal({ tier: 2 });
    const both = openAdmitted(guard.confirmForSelf(forAnn, root, true));
    expect(openAdmitted(guard.confirmForSelf(both, ann, false)).guard.confirmed_for).to.deep.equal([root.owner]);
    expect(openAdmitted(guard.confirmForSelf(forAnn, ann, false)).guard).to.deep.equal(stated.guard);
    for (const no of [principal({ sub: 'ann', actor: 'agent', scopes: ['memory:confirm'] }), principal({ sub: 'ann' })])
      expect(() => guard.confirmForSelf(stated, no, true)).to.throw(HindsightError);
    // nobody's confirmation is forged by a change of state
    expect(() => guard.readmit(forAnn, stated))
      .to.throw(HindsightError)
      .with.property('code', 'ERR_INTERNAL');
    const other = { ...both, memory_id: 'other', guard: forAnn.guard };
    expect(openAdmitted(guard.unite(both, both, other)).guard.confirmed_for, 'the same texts').to.have.members([ann.owner, root.owner]);
    const tagged = { ...other, tags: ['more'] };
    expect(openAdmitted(guard.unite(both, both, tagged)).guard.confirmed_for, 'with another tag').to.deep.equal([ann.owner]);
  });

  it('of one’s own words are a stated tier to everybody else', () => {
    const own = record(4, confirmationBy(bob, bob.owner));
    expect([ann, bob].map(({ owner }) => standingFor(own, owner))).to.deep.equal([
      { tier: 3, confirmedBy: 'writer' },
      { tier: 4, confirmedBy: 'you' },
    ]);
    const admins = record(4, confirmationBy(root, bob.owner));
    expect([ann, root].map(({ owner }) => standingFor(admins, owner))).to.deep.equal([
      { tier: 4, confirmedBy: 'admin' },
      { tier: 4, confirmedBy: 'you' },
    ]);
    expect([ann, bob].map(({ owner }) => standingFor(record(4), owner).tier)).to.deep.equal([3, 4]);
    expect([1, 3, 5].map((tier) => standingFor(record(tier), ann.owner))).to.deep.equal([{ tier: 1 }, { tier: 3 }, { tier: 5 }]);
  });

  it('that a client carried are believed of a person, and of an agent as the policy says', () => {
    const guard = testGuard({ trust: { ...trustPolicy, agent_answers: { session: true, retry: false } } });
    const agent = principal({ sub: 'bob', actor: 'agent', scopes: ['memory:write'] });
    expect(
      (['session', 'retry'] as const).map((leg) => testGuard().believes(agent, leg)),
      'as shipped',
    ).to.deep.equal([true, true]);
    const pending = memoryRecord({ owner: bob.owner, status: 'pending', trust_tier: 2 });
    const tierBy = (who: typeof bob, leg: 'session' | 'retry'): number =>
      openAdmitted(guard.acknowledge(pending, pending, who, { seen: 'whole', leg })).trust_tier;
    expect([tierBy(bob, 'session'), tierBy(bob, 'retry'), tierBy(agent, 'session')]).to.deep.equal([3, 3, 3]);
    for (const act of [() => tierBy(agent, 'retry'), () => guard.consentTo(pending, agent, { seen: 'whole', leg: 'retry' })])
      expect(act).to.throw(HindsightError).with.property('code', 'ERR_ACTOR_FORBIDDEN');
    expect(guard.believes(principal({ actor: 'service' }), 'retry')).to.equal(false);
    const part = guard.acknowledge(pending, pending, agent, { seen: 'part', leg: 'session' });
    expect(openAdmitted(part).trust_tier, 'what was not shown whole raises nothing').to.equal(2);
  });

  it('are noted by the guard, kept by a change of state, and of two memories that become one kept only where both have them', () => {
    const guard = testGuard();
    const pending = memoryRecord({ owner: bob.owner, status: 'pending', trust_tier: 3 });
    const confirmed = openAdmitted(guard.confirm(pending, pending, root));
    expect(confirmed.guard.confirmed_by).to.deep.equal({ principal: root.owner, of_another: true });
    const later = { ...confirmed, version: 9 };
    expect(openAdmitted(guard.readmit(later, confirmed)).guard).to.deep.equal(confirmed.guard);
    expect(() => guard.readmit({ ...pending, guard: confirmed.guard }, pending))
      .to.throw(HindsightError)
      .with.property('code', 'ERR_INTERNAL');
    const other = { ...confirmed, memory_id: 'other' };
    expect(openAdmitted(guard.unite(later, confirmed, other)).guard.confirmed_by).to.deep.equal(confirmed.guard.confirmed_by);
    const plain = { ...other, guard: pending.guard };
    expect(openAdmitted(guard.unite(later, confirmed, plain)).guard).not.to.have.property('confirmed_by');
  });

  it('go with the texts that come back, and with no others', async () => {
    const guard = testGuard();
    const pending = memoryRecord({ owner: bob.owner, status: 'pending', trust_tier: 3 });
    const confirmed = openAdmitted(guard.confirm(pending, pending, root));
    const restored = await guard.admit(confirmed, { principal: bob, parents: [], previous: confirmed, restores: confirmed });
    expect(restored.record?.guard.confirmed_by).to.deep.equal(confirmed.guard.confirmed_by);
    expect(restored.mark).not.to.have.property('confirmed_by');
    const changed = await guard.admit({ ...confirmed, content: 'other words' }, { principal: bob, parents: [], previous: confirmed });
    expect(changed.record?.guard).not.to.have.property('confirmed_by');
  });
});
