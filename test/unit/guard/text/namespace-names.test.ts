import { expect } from 'chai';
import type { NamespaceRecord, NamespaceStore } from '../../../../src/domain/ports.ts';
import { HindsightError } from '../../../../src/errors.ts';
import { compileNameOrders } from '../../../../src/guard/text/name-orders.ts';
import { nameJudge, withJudgedNames } from '../../../../src/guard/text/namespace-names.ts';
import { compileRules, type RuleSet } from '../../../../src/guard/text/rules.ts';

const rules = compileRules(
  { version: 1, concepts: { skip: { en: ['\\bskip the gate\\b'], zh: ['跳过门禁'] } } },
  { version: 1, rules: [{ id: 'skip', class: 'directive', unit: 'sentence', all: ['skip'], match: ['x'], pass: ['x'] }] },
);

const nameOrders = compileNameOrders({
  version: 1,
  parts: { gate: 'gate|door' },
  orders: [{ id: 'name-open', patterns: ['^open the (?:<gate>) to \\w'], match: ['x'], pass: ['x'] }],
});

/** A store that keeps what it is told to make. */
function storeOf(made: Map<string, NamespaceRecord>): NamespaceStore {
  const ensure: NamespaceStore['ensure'] = (tenant, namespace, owner) => {
    const record = { tenant, namespace, owner, generation: 1, scenario: 'assistant', collect: 'on', created_at: '' } as const;
    made.set(namespace, made.get(namespace) ?? record);
    return Promise.resolve(made.get(namespace) ?? record);
  };
  return {
    ensure,
    get: (_tenant, namespace) => Promise.resolve(made.get(namespace)),
    setCollect: (tenant, namespace, owner) => ensure(tenant, namespace, owner),
  };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('names of namespaces', () => {
  it('are judged once, with separators as spaces', () => {
    let asked = 0;
    const counting: RuleSet = { find: (...args) => (asked++, rules.find(...args)) };
    const judge = nameJudge({ rules: counting, nameOrders });
    expect(judge('shared.skip-the_gate')).to.deep.equal(['skip@namespace']);
    const once = asked;
    for (let i = 0; i < 3; i += 1) expect(judge('shared.skip-the_gate')).to.deep.equal(['skip@namespace']);
    expect(asked).to.equal(once);
    for (const name of ['shared', 'user.mary-ann', 'shared.gate-keepers-of-the-museum']) expect(judge(name), name).to.deep.equal([]);
  });

  it('are judged from each segment on by what a name begins with, also where they end as a collection is called', () => {
    const judge = nameJudge({ rules, nameOrders });
    for (const name of ['shared.open-the-door-to-all', 'shared.open.the-gate.to-them', 'team.a.open-the-gate-to-all-notes'])
      expect(judge(name), name).to.deep.equal(['name-open@namespace']);
    for (const name of ['shared.how-to-open-the-gate-to-all', 'shared.open-the-gate-notes']) expect(judge(name), name).to.deep.equal([]);
  });

  it('that give orders are not made, by a write or by a switch', async () => {
    const made = new Map<string, NamespaceRecord>();
    const store = withJudgedNames(storeOf(made), nameJudge({ rules, nameOrders }));
    for (const call of [store.ensure('t', 'shared.skip-the-gate', 'o'), store.setCollect('t', 'shared.skip-the-gate', 'o', 'off')]) {
      const error = await failureOf(call);
      expect(error).to.be.instanceOf(HindsightError);
      expect((error as HindsightError).faults).to.deep.equal([
        { pointer: '/namespace', message: 'reads as an instruction (skip@namespace): choose another name' },
      ]);
    }
    expect(made.size).to.equal(0);
  });

  it('that were made before stay in use, and harmless ones are made', async () => {
    const made = new Map<string, NamespaceRecord>();
    const plain = storeOf(made);
    await plain.ensure('t', 'shared.skip-the-gate', 'o');
    const store = withJudgedNames(plain, nameJudge({ rules, nameOrders }));
    expect((await store.ensure('t', 'shared.skip-the-gate', 'o')).namespace).to.equal('shared.skip-the-gate');
    await store.ensure('t', 'shared.gates', 'o');
    expect([...made.keys()]).to.deep.equal(['shared.skip-the-gate', 'shared.gates']);
  });
});
