/** Every text rule against the examples that stand beside it in policies/guard/rules.yaml, at the highest tier it looks at. */
import { join } from 'node:path';
import { expect } from 'chai';
import { TIER } from '../../src/domain/trust.ts';
import { compileRules, conceptsSchema, rulesSchema } from '../../src/guard/text/rules.ts';
import { verdictsSchema } from '../../src/guard/text/verdicts.ts';
import { viewsOf } from '../../src/guard/text/views.ts';
import { loadPolicy } from '../../src/policy.ts';

const policies = join(import.meta.dirname, '..', '..', 'policies', 'guard');
const concepts = loadPolicy(join(policies, 'concepts.yaml'), conceptsSchema);
const { rules } = loadPolicy(join(policies, 'rules.yaml'), rulesSchema);
const ruleSet = compileRules(concepts, { version: 1, rules });

const found = (text: string, tier: number): ReadonlySet<string> =>
  new Set(viewsOf(text).flatMap((view) => ruleSet.find(view.text, tier, view.hidden).map((finding) => finding.ruleId)));

describe('text rules', () => {
  for (const rule of rules) {
    // a person's words are the hardest to judge: rules for all tiers are shown at theirs
    const tier = Math.min(TIER.user_stated, TIER[rule.max_tier ?? 'operator']);
    it(`${rule.id} finds its examples`, () => {
      for (const text of rule.match) expect([...found(text, tier)], text).to.include(rule.id);
    });
    it(`${rule.id} leaves its counter-examples alone`, () => {
      for (const text of rule.pass) expect([...found(text, tier)], text).not.to.include(rule.id);
    });
  }

  it('have ids of their own', () => {
    expect(new Set(rules.map((rule) => rule.id)).size).to.equal(rules.length);
  });

  it('use every concept, and name none that there is not', () => {
    const used = new Set(rules.flatMap((rule) => [...rule.all, ...(rule.any ?? []), ...(rule.none ?? [])]));
    expect(Object.keys(concepts.concepts).filter((name) => !used.has(name))).to.deep.equal([]);
    expect(() => compileRules(concepts, { version: 1, rules: rules.map((rule) => ({ ...rule, all: ['nothing'] })) })).to.throw(/nothing/);
  });

  it('have a verdict for every class and tier, never milder for a lower tier', () => {
    const { verdicts } = loadPolicy(join(policies, 'verdicts.yaml'), verdictsSchema);
    const order = ['allow', 'candidate', 'confirm', 'quarantine', 'block'];
    for (const perTier of Object.values(verdicts)) {
      const grave = [perTier.external, perTier.tool_output, perTier.agent_inferred, perTier.user_stated].map((v) => order.indexOf(v));
      expect(grave).to.deep.equal([...grave].sort((a, b) => b - a));
    }
  });
});
