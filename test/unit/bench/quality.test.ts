import { expect } from 'chai';
import { byCategory, estimates, macroDifference, questionFigures, type Answers } from '../../../bench/quality/figures.ts';
import { GOALS, NINE_SETS, verdicts } from '../../../bench/quality/goals.ts';
import { qualityFigures, qualityMarkdown, qualityPlots, type MeasuredSet } from '../../../bench/quality/report.ts';
import { BM25_ROW, DEFAULT_ROW, rankingRows, rrf, RRF_ROW, VECTOR_ROW } from '../../../bench/quality/rows.ts';
import { loadProfiles } from '../../../src/ranking/profile.ts';

const profiles = loadProfiles(new URL('../../../policies/ranking', import.meta.url).pathname);

describe('bench quality', () => {
  describe('the rankings', () => {
    it('ask the default alone without the ablation', () => {
      expect(rankingRows('assistant', profiles, false)).to.deep.equal([
        { name: DEFAULT_ROW, request: { profile: 'assistant', top_k: 20 } },
      ]);
    });

    it('leave one signal only by weighing all others 0, and leave each out by itself', () => {
      const rows = new Map(rankingRows('assistant', profiles, true).map((row) => [row.name, row.request]));
      const words = rows.get(BM25_ROW)?.['weights'] as Record<string, number>;
      expect(words).to.include({ vector: 0, speaker: 0, date: 0, access: 0 }).and.not.have.property('lexical');
      expect(rows.get(VECTOR_ROW)?.['weights']).to.include({ lexical: 0, date: 0 }).and.not.have.property('vector');
      const weighed = Object.entries(profiles.get('assistant')?.weights ?? {}).filter(([, weight]) => weight > 0);
      for (const [signal] of weighed) expect(rows.get(`without ${signal}`)).to.deep.include({ weights: { [signal]: 0 } });
      expect([...rows.keys()].filter((name) => name.startsWith('profile seed-'))).to.have.length(5);
    });

    it('refuse a profile that does not exist', () => {
      expect(() => rankingRows('nobody', profiles, true)).to.throw('there is no ranking profile nobody');
    });

    it('are fused by reciprocal rank: what both lists hold comes before what one holds higher', () => {
      expect(
        rrf([
          ['a', 'b', 'c'],
          ['d', 'b', 'c'],
        ]),
      ).to.deep.equal(['b', 'c', 'a', 'd']);
      expect(rrf([['a', 'b'], []])).to.deep.equal(['a', 'b']);
      // with a small k the top counts more than being in both
      expect(
        rrf(
          [
            ['a', 'x', 'y', 'b'],
            ['d', 'z', 'w', 'b'],
          ],
          0,
        )[0],
      ).to.equal('a');
    });
  });

  const hit = (rank: number) =>
    questionFigures(
      Array.from({ length: 20 }, (_, i) => (i === rank ? 'right' : `wrong${i}`)),
      new Set(['right']),
    );

  it('counts recall at every depth and the rank of the first hit', () => {
    expect(hit(0)).to.include({ recall_1: 1, recall_20: 1, mrr: 1 });
    expect(hit(12)).to.include({ recall_10: 0, recall_20: 1, mrr: 0, ndcg_10: 0 });
    expect(hit(4)).to.include({ recall_1: 0, recall_5: 1, mrr: 0.2 });
  });

  const answers = (set: string, ranks: Readonly<Record<string, readonly number[]>>, categories: readonly string[]): Answers => ({
    set,
    categories,
    rows: new Map(Object.entries(ranks).map(([row, list]) => [row, list.map(hit)])),
  });

  it('groups by category, the largest first', () => {
    const groups = byCategory(answers('s', { [DEFAULT_ROW]: [0, 7, 0] }, ['a', 'b', 'a']), DEFAULT_ROW);
    expect(groups.map(({ category, questions, figures }) => [category, questions, figures.recall_5.mean])).to.deep.equal([
      ['a', 2, 1],
      ['b', 1, 0],
    ]);
  });

  it('compares two rankings question by question, each set counting the same', () => {
    const sets = [
      answers('large', { [DEFAULT_ROW]: [0, 0, 0, 0], other: [0, 0, 0, 9] }, ['a', 'a', 'a', 'a']),
      answers('small', { [DEFAULT_ROW]: [0], other: [0] }, ['a']),
    ];
    const { mean, low, high } = macroDifference(sets, 'other', DEFAULT_ROW, 'recall_5');
    expect(mean).to.equal(-0.125);
    expect(low).to.be.lessThan(-0.125);
    expect(high).to.equal(0);
    expect(macroDifference(sets, DEFAULT_ROW, DEFAULT_ROW, 'mrr')).to.deep.equal({ mean: 0, low: 0, high: 0 });
  });

  it('holds figures against must and goal only where every set of the goal was measured', () => {
    const means = (recall: number) => ({ recall_1: 0, recall_5: recall, recall_10: recall, recall_20: recall, ndcg_10: 0, mrr: 0 });
    const found = verdicts(
      new Map([
        ['memdaily_zh', means(0.8796)],
        ['madial_zh', means(0.64)],
        ['madial_en', means(0.1)],
      ]),
    );
    expect(found.map(({ label, measured, verdict }) => [label, measured, verdict])).to.deep.equal([
      ['MemDaily zh, recall@5', 0.88, 'must'],
      ['MADial zh, recall@5', 0.64, 'goal'],
      ['MADial en, recall@5', 0.1, 'missed'],
    ]);
    const all = verdicts(new Map(NINE_SETS.map((set) => [set, means(1)])));
    expect(all).to.have.length(GOALS.length);
    expect(all.find(({ label }) => label === 'macro of nine, nDCG@10')).to.include({ measured: 0, verdict: 'missed' });
  });

  describe('the report', () => {
    const one: MeasuredSet = {
      ...answers('locomo.dev', { [DEFAULT_ROW]: [0, 9], [BM25_ROW]: [9, 9], [RRF_ROW]: [0, 0] }, ['x', 'y']),
      documents: 10,
      memories: 12,
      leftOut: 3,
      p50Ms: 4,
      p95Ms: 8,
    };
    const rows = [DEFAULT_ROW, BM25_ROW, RRF_ROW];

    it('tells sets, categories, goals and rankings in markdown', () => {
      const text = qualityMarkdown([one], [one], rows);
      expect(text)
        .to.match(/\| locomo +\| 10 +\| 2 /)
        .and.match(/\| LoCoMo without adversarial, recall@5 +\| \.500 +\| \.710 /);
      expect(text).to.match(/\| BM25 only +\| \.000 \[\.000, \.000\] +\| -\.500 /);
      expect(text).to.match(/\| RRF of the two +\| 1\.000 \[1\.000, 1\.000\] +\| \+\.500 /);
    });

    it('gives the same as numbers, with intervals', () => {
      const figures = qualityFigures([one], [one], rows) as {
        sets: { left_out: number; recall_5: { mean: number }; categories: unknown[] }[];
        rankings: { ranking: string; recall_5_difference: { mean: number } }[];
      };
      expect(figures.sets[0]).to.deep.include({ left_out: 3, recall_5: estimates(one.rows.get(DEFAULT_ROW) ?? []).recall_5 });
      expect(figures.sets[0]?.categories).to.have.length(2);
      expect(figures.rankings.map((r) => [r.ranking, r.recall_5_difference.mean])).to.deep.equal([
        [DEFAULT_ROW, 0],
        [BM25_ROW, -0.5],
        [RRF_ROW, 0.5],
      ]);
    });

    it('plots the rankings only where there is more than one', () => {
      expect([...qualityPlots([one], [one], rows).keys()]).to.deep.equal(['quality-sets.svg', 'quality-rankings.svg']);
      expect([...qualityPlots([one], [one], [DEFAULT_ROW]).keys()]).to.deep.equal(['quality-sets.svg']);
    });
  });
});
