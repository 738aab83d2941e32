/** The parts of bench:relevance that decide its figures: the made-up crowd, and precision and recall of nothing_relevant. */
import { expect } from 'chai';
import { crowdOf, LOOK_ALIKES, moved } from '../../../bench/relevance/crowd.ts';
import { curveOf, floorMarkdown, floorPlot, pointOf, type Judged } from '../../../bench/relevance/floor.ts';
import { Random } from '../../../bench/support/random.ts';
import { exactItems } from '../../../src/text/exact.ts';

const JUDGED: Judged[] = [
  {
    set: 'a',
    answerable: [
      { best: 0.9, found: true },
      { best: 0.4, found: true },
      { best: 0.1, found: false },
    ],
    unanswerable: [0.3, 0.6],
  },
  { set: 'b', answerable: [{ best: 0.8, found: true }], unanswerable: [0.2, 0.2, 0.2, 0.7] },
];

describe('bench:relevance', () => {
  it('gives each known code a record that alone holds it among look-alikes and fillers, half of them Chinese', () => {
    const crowd = crowdOf(400, 10, 7);
    expect(crowd.known.filter(({ language }) => language === 'zh')).to.have.length(5);
    const derived = [...crowd.derived()];
    expect(derived).to.have.length(400);
    expect(derived.filter(({ noise }) => noise < 0.2)).to.have.length(10 * LOOK_ALIKES);
    for (const { question, content } of crowd.known) {
      const [item] = exactItems(question);
      if (item?.kind !== 'code') throw new Error(`no code in ${question}`);
      expect(content.toLowerCase()).to.include(item.code);
      expect(derived.filter((other) => other.content.toLowerCase().includes(item.code))).to.deep.equal([]);
    }
    for (const { base } of derived) expect(crowd.bases).to.include(base);
    expect([...crowdOf(400, 10, 7).derived()]).to.deep.equal(derived);
  });

  it('moves a vector by its noise and keeps its length', () => {
    const base = Array.from({ length: 384 }, (_, i) => (i % 2 === 0 ? 1 : -1) / Math.sqrt(384));
    const vector = moved(base, 0.25, new Random(1));
    expect(Math.hypot(...vector)).to.be.closeTo(1, 1e-3);
    expect(vector.reduce((sum, x, i) => sum + x * (base[i] ?? 0), 0)).to.be.closeTo(1 / Math.hypot(1, 0.25), 0.02);
  });

  it('counts a floor’s recall over unanswerable questions and its losses over answers that were found, sets alike', () => {
    expect(pointOf(JUDGED, 0.5)).to.deep.equal({ floor: 0.5, recall: (0.5 + 0.75) / 2, lost: 0.25, precision: 0.625 / 0.875 });
    expect(pointOf(JUDGED, 0)).to.deep.equal({ floor: 0, recall: 0, lost: 0, precision: 1 });
    const recalls = curveOf(JUDGED).map(({ recall }) => recall);
    expect(recalls).to.deep.equal([...recalls].sort((a, b) => a - b));
    expect(floorMarkdown(JUDGED, 0.5)).to.match(/\| mean +\| 4 +\| 6 +\| \.714 +\| \.625 +\| \.250/);
    expect(floorPlot(curveOf(JUDGED), 0.4)).to.include('answers lost');
  });
});
