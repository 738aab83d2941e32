/** The parts of bench:relevance that decide its figures: the made-up crowd, and precision and recall of nothing_relevant. */
import { expect } from 'chai';
import { crowdOf, KINDS, LOOK_ALIKES, moved } from '../../../bench/relevance/crowd.ts';
import { curveOf, floorMarkdown, floorPlot, pointOf, type Judged } from '../../../bench/relevance/floor.ts';
import { shortQuestions, shortSlices } from '../../../bench/relevance/short.ts';
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
  it('gives each known thing a record that alone holds it among look-alikes and fillers, half of them Chinese', () => {
    const counts = { codes: 10, things: 6 };
    const crowd = crowdOf(700, counts, 7);
    expect(crowd.known.map(({ kind }) => kind)).to.have.members(
      KINDS.flatMap((kind) => Array<string>(kind === 'code' ? 10 : 6).fill(kind)),
    );
    expect(crowd.known.filter(({ language }) => language === 'zh')).to.have.length(14);
    const derived = [...crowd.derived()];
    expect(derived).to.have.length(700);
    expect(derived.filter(({ noise }) => noise < 0.2)).to.have.length(28 * LOOK_ALIKES);
    for (const { kind, question, content, thing } of crowd.known) {
      expect(question).to.include(thing);
      expect(content).to.include(thing);
      expect(derived.filter((other) => other.content.includes(thing))).to.deep.equal([]);
      if (kind === 'code') expect(exactItems(question).map((item) => item.kind)).to.deep.equal(['code']);
      if (kind === 'phrase') expect(exactItems(question).map((item) => item.kind)).to.deep.equal(['phrase']);
    }
    for (const { base } of derived) expect(crowd.bases).to.include(base);
    expect([...crowdOf(700, counts, 7).derived()]).to.deep.equal(derived);
  });

  it('asks for short words that few texts hold, and fills up what texts there are', () => {
    const texts = Array.from(
      { length: 520 },
      (_, i) => `第${i}天我们去了图书馆，看见${['蜥蜴', '鹦鹉', '松鼠'][i % 3]}和${i === 7 ? '穿山甲' : '鸽子'}`,
    );
    const rows = [...texts, ...texts].map((text, i) => ({ id: String(i), namespace: 'n', text, created_at: '2026-01-01T00:00:00Z' }));
    const slices = shortSlices(rows, 7);
    expect(slices.map((slice) => new Set(slice.texts).size)).to.deep.equal([500, 5_000]);
    expect(slices[0]?.texts).to.deep.equal(texts.slice(0, 500));
    expect(shortQuestions(slices[0]?.texts ?? [], 3, 1)).to.deep.equal(['穿山甲']);
    expect(shortQuestions(slices[0]?.texts ?? [], 2, 1)).to.deep.equal([]);
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
