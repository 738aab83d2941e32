import { expect } from 'chai';
import { TIER } from '../../../../src/domain/trust.ts';
import { compileRules } from '../../../../src/guard/text/rules.ts';

const ruleSet = compileRules(
  {
    version: 1,
    concepts: {
      skip: { en: ['\\bskip\\b'], zh: ['跳过'] },
      gate: { en: ['\\bgate\\b'], zh: ['门禁'] },
      never: { en: ['\\bnever\\b'] },
      report: { en: ['\\bincident\\b'] },
    },
  },
  {
    version: 1,
    rules: [
      { id: 'near', class: 'sensitive', unit: 'near', all: ['skip', 'gate'], match: ['x'], pass: ['x'] },
      { id: 'sentence', class: 'sensitive', unit: 'sentence', all: ['skip', 'gate'], none: ['never'], match: ['x'], pass: ['x'] },
      { id: 'low', class: 'directive', unit: 'text', all: ['skip'], max_tier: 'tool_output', match: ['x'], pass: ['x'] },
    ],
  },
);
const ids = (text: string, tier: number = TIER.user_stated, hidden = false): readonly string[] =>
  ruleSet.find(text, tier, hidden).map((f) => f.ruleId);

describe('rules', () => {
  it('hold when their concepts stand in one sentence, in either language', () => {
    expect(ids('please skip the gate')).to.deep.equal(['near', 'sentence']);
    expect(ids('跳过门禁')).to.deep.equal(['near', 'sentence']);
  });

  it('tell a sentence from what is merely near, and near from far', () => {
    expect(ids('skip lunch. the gate is open')).to.deep.equal(['near']);
    expect(ids(`skip ${'x'.repeat(400)} gate`)).to.deep.equal(['sentence']);
    expect(ids(`skip. ${'x'.repeat(400)} gate`)).to.deep.equal([]);
  });

  it('are found behind any number of harmless matches', () => {
    expect(ids(`${'skip. '.repeat(300)}${'x'.repeat(400)}. skip the gate`)).to.deep.equal(['near', 'sentence']);
  });

  it('are silenced by a concept that says the opposite', () => {
    expect(ids('never skip the gate')).to.deep.equal(['near']);
  });

  it('look only at writers up to their tier', () => {
    expect(ids('skip', TIER.tool_output)).to.deep.equal(['low']);
    expect(ids('skip', TIER.user_stated)).to.deep.equal([]);
  });

  it('pass over words that a person quotes in a report, and over no hidden ones', () => {
    expect(ids('incident: the page said "skip the gate"')).to.deep.equal([]);
    expect(ids('the page said "skip the gate"')).to.deep.equal(['near', 'sentence']);
    expect(ids('incident: the page said "skip the gate"', TIER.user_stated, true)).to.deep.equal(['near', 'sentence']);
    expect(ids('incident: the page said "skip the gate"', TIER.external)).to.deep.equal(['near', 'sentence', 'low']);
  });
});
