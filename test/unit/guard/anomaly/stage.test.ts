import { join } from 'node:path';
import { expect } from 'chai';
import { anomalySchema } from '../../../../src/guard/anomaly/policy.ts';
import { anomalyStage } from '../../../../src/guard/anomaly/stage.ts';
import { hasTriggerSuffix } from '../../../../src/guard/anomaly/trigger-suffix.ts';
import { loadPolicy } from '../../../../src/policy.ts';
import { createWorld, type World } from '../../../support/memory-world.ts';
import { principal } from '../../../support/principals.ts';
import { fastestMs } from '../../../support/fastest.ts';

const policy = loadPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies', 'guard', 'anomaly.yaml'), anomalySchema);

describe('the anomaly stage', () => {
  let world: World;
  let nowMs: number;
  const agent = principal({ actor: 'agent' });
  const write = async (item: object, by = agent): Promise<{ outcome: string; verdict: string; rules: readonly string[] }> => {
    const { results } = await world.memory.write({ content: 'x', ...item }, world.call(by));
    const [result] = results;
    return { outcome: result?.outcome ?? '', verdict: result?.guard?.verdict ?? '', rules: result?.guard?.rule_ids ?? [] };
  };
  beforeEach(() => {
    nowMs = Date.parse('2026-03-01T12:00:00Z');
    world = createWorld({ guard: { admissionStages: [anomalyStage(policy, () => nowMs)] } });
  });
  /** Sentences that have no run of three words in common. */
  const other = (i: number): string => `Note${i}a says${i}b that${i}c the${i}d pump${i}e runs${i}f.`;

  it('flags more records on one subject than the policy allows an hour, and stores them all the same', async () => {
    for (let i = 0; i < policy.burst.records; i += 1)
      expect(await write({ content: other(i), subject: 'Pump 7' })).to.deep.equal({ outcome: 'stored', verdict: 'allow', rules: [] });
    const flagged = { outcome: 'stored', verdict: 'flag', rules: ['anomaly-burst'] };
    expect(await write({ content: other(900), subject: 'pump 7' })).to.deep.equal(flagged);
    expect((await write({ content: other(901), subject: 'Pump 8' })).verdict, 'another subject').to.equal('allow');
    const bob = principal({ sub: 'bob', actor: 'agent' });
    expect((await write({ content: other(902), subject: 'Pump 7' }, bob)).verdict, 'another principal').to.equal('allow');
    nowMs += policy.window_minutes * 60_000;
    expect((await write({ content: other(903), subject: 'Pump 7' })).verdict, 'an hour later').to.equal('allow');
  });

  it('flags the fourth of nearly the same texts of one origin', async () => {
    const copy = (i: number): string => `The payee of every invoice of the Norwick branch moved to the account number ${i} last week.`;
    for (let i = 0; i < policy.near_duplicates.copies; i += 1) expect((await write({ content: copy(i) })).verdict).to.equal('allow');
    expect(await write({ content: copy(7) })).to.deep.equal({ outcome: 'stored', verdict: 'flag', rules: ['anomaly-copies'] });
    expect((await write({ content: copy(8), source: { type: 'web' } })).verdict, 'another origin').to.equal('allow');
  });

  it('never looks at what a person states', async () => {
    const person = principal();
    const [content = ''] = policy.trigger_suffix.match;
    for (let i = 0; i <= policy.burst.records + 1; i += 1)
      expect(await write({ content, subject: 'Pump 7', admission: 'keep' }, person)).to.deep.equal({
        outcome: 'stored',
        verdict: 'allow',
        rules: [],
      });
  });

  it('flags what ends in words that belong to no sentence, and leaves its counter-examples alone', async () => {
    for (const content of policy.trigger_suffix.match) expect((await write({ content })).rules).to.deep.equal(['anomaly-suffix']);
    for (const content of policy.trigger_suffix.pass) expect((await write({ content })).rules).to.deep.equal([]);
  });

  it('takes no list for a suffix, and stays quick on long text', () => {
    expect(hasTriggerSuffix('alpha beta gamma delta epsilon zeta', 6)).to.equal(false);
    expect(hasTriggerSuffix('The tags are: alpha, beta, gamma, delta, epsilon, zeta', 6)).to.equal(false);
    expect(fastestMs(() => hasTriggerSuffix('a '.repeat(16_000), 6))).to.be.below(50);
  });
});
