/** tune: what is said of a result, and the profile that is made of it. */
import { expect } from 'chai';
import { parse } from 'yaml';
import { profileYaml, wordsFor, type TuneResult } from '../../../../src/cli/tune/result.ts';

const RESULT: TuneResult = {
  profile: 'support',
  questions: 120,
  out_of_reach: 0,
  folds: 5,
  seed: 1,
  measure: 'ndcg',
  before: { ndcg: 0.612, mrr: 0.6 },
  after: { ndcg: 0.631, mrr: 0.59 },
  gain: { ndcg: { mean: 0.019, low: 0.004, high: 0.034 }, mrr: { mean: -0.01, low: -0.03, high: 0.01 } },
  certain: true,
  moved: [{ signal: 'lexical', from: 0.3, to: 0.4, folds: 4 }],
  weights: { vector: 0.7, lexical: 0.4 },
};
const unsure: TuneResult = { ...RESULT, certain: false, gain: { ...RESULT.gain, ndcg: { mean: 0.019, low: -0.004, high: 0.04 } } };
const worse: TuneResult = { ...RESULT, certain: false, gain: { ...RESULT.gain, ndcg: { mean: -0.02, low: -0.03, high: -0.01 } } };

describe('tune: the result', () => {
  it('tells both figures with their intervals, what moved, and whether the gain is more than chance', () => {
    const sure = wordsFor(RESULT, 'en');
    expect(sure).to.include('nDCG@10  0.612 -> 0.631  +0.019 [+0.004, +0.034] (95 %)');
    expect(sure).to.match(/MRR@10 +0\.600 -> 0\.590 {2}-0\.010 \[-0\.030, \+0\.010\]/);
    expect(sure)
      .to.match(/lexical +0\.3 -> 0\.4 {2}\(4\/5\)/)
      .and.include('The interval lies above 0');
    expect(sure).to.not.include('out of reach').and.to.not.include('written');
    expect(wordsFor(unsure, 'en')).to.include('The interval includes 0: this may be chance');
    expect(wordsFor(worse, 'en')).to.include('held out, the weights are worse');
    expect(wordsFor({ ...unsure, moved: [] }, 'en')).to.include('No better weights were found');
  });

  it('says the same in Chinese', () => {
    expect(wordsFor(RESULT, 'zh')).to.include('120 个问题').and.include('置信区间高于 0');
    expect(wordsFor({ ...unsure, out_of_reach: 3, file: '/x/ours.yaml' }, 'zh'))
      .to.include('置信区间包含 0')
      .and.include('其中 3 个问题')
      .and.include('已写入 /x/ours.yaml');
    expect(wordsFor(worse, 'zh')).to.include('置信区间低于 0');
  });

  it('becomes a profile that extends the tuned one, with what is known of it in its head', () => {
    expect(parse(profileYaml(RESULT))).to.deep.equal({
      extends: 'support',
      version: 1,
      description: 'support, with weights tuned on 120 judged questions.',
      weights: { vector: 0.7, lexical: 0.4 },
    });
    expect(profileYaml(RESULT)).to.match(/^# .*120 judged questions.*\n# .*\+0\.019.*\n# Moved: lexical 0\.3 -> 0\.4\.\n/);
    expect(profileYaml(RESULT)).to.not.include('chance');
    expect(profileYaml(unsure)).to.include('the interval includes 0, this may be chance');
    // a weight of recency that was measured holds for questions about the latest too
    const recent = parse(profileYaml({ ...RESULT, moved: [{ signal: 'recency', from: 0, to: 0.02, folds: 5 }] })) as object;
    expect(recent).to.deep.include({ boosts: { recency_asked: 0 } });
  });
});
