import { expect } from 'chai';
import fc from 'fast-check';
import { meanFigures, rankingFigures, recallAt } from '../../../bench/support/ranking-metrics.ts';
import { ndcg10, reciprocalRank } from '../../../src/ranking/measures.ts';

describe('bench ranking metrics', () => {
  const ranked = ['a', 'x', 'b', 'y', 'z', 'c'];

  it('counts the share of relevant documents among the first k', () => {
    const relevant = new Set(['a', 'b', 'c', 'missing']);
    expect(recallAt(1, ranked, relevant)).to.equal(0.25);
    expect(recallAt(5, ranked, relevant)).to.equal(0.5);
    expect(recallAt(10, ranked, relevant)).to.equal(0.75);
  });

  it('takes the rank of the first relevant document, and 0 beyond the tenth', () => {
    expect(reciprocalRank(ranked, new Set(['b']))).to.equal(1 / 3);
    expect(reciprocalRank([...'0123456789', 'late'], new Set(['late']))).to.equal(0);
  });

  it('computes nDCG by hand: ranks 1 and 3 of two relevant', () => {
    // (1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3))
    expect(ndcg10(ranked, new Set(['a', 'b']))).to.be.closeTo(1.5 / 1.63093, 1e-5);
  });

  it('gives 1 everywhere to a perfect list, and stays within 0 and 1 for any list', () => {
    expect(rankingFigures(['a'], new Set(['a']))).to.deep.equal({ recall_1: 1, recall_5: 1, recall_10: 1, ndcg_10: 1, mrr: 1 });
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { minLength: 1 });
    fc.assert(
      fc.property(ids, ids, (list, relevant) => {
        for (const figure of Object.values(rankingFigures(list, new Set(relevant)))) expect(figure).to.be.within(0, 1 + 1e-12);
      }),
    );
  });

  it('averages over queries', () => {
    const one = rankingFigures(['a'], new Set(['a']));
    const none = rankingFigures(['x'], new Set(['a']));
    expect(meanFigures([one, none])).to.deep.equal({ recall_1: 0.5, recall_5: 0.5, recall_10: 0.5, ndcg_10: 0.5, mrr: 0.5 });
  });
});
