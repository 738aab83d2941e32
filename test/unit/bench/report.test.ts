import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { difference, markdownTable, share, withInterval } from '../../../bench/report/markdown.ts';
import { barChart, escapeXml, lineChart, ticks } from '../../../bench/report/svg.ts';
import { bootstrapMacro, bootstrapMean } from '../../../bench/support/bootstrap.ts';
import { fingerprintOf, sourceFingerprint } from '../../../bench/support/fingerprint.ts';
import { sample } from '../../../bench/support/random.ts';

describe('bench bootstrap', () => {
  it('gives the same interval for the same values and seed, another for another seed', () => {
    const values = Array.from({ length: 40 }, (_, i) => (i % 3) / 2);
    const options = { seed: 1, resamples: 200 };
    expect(bootstrapMean(values, options)).to.deep.equal(bootstrapMean(values, options));
    expect(bootstrapMean(values, options)).to.not.deep.equal(bootstrapMean(values, { ...options, seed: 2 }));
  });

  it('is about twice the standard error wide on each side, and a point where all values are equal', () => {
    const values = Array.from({ length: 400 }, (_, i) => i % 2);
    const { mean, low, high } = bootstrapMean(values);
    expect(mean).to.equal(0.5);
    // 1.96 x .5 / sqrt(400) = .049
    expect(mean - low).to.be.closeTo(0.049, 0.008);
    expect(high - mean).to.be.closeTo(0.049, 0.008);
    expect(bootstrapMean([0.25, 0.25, 0.25])).to.deep.equal({ mean: 0.25, low: 0.25, high: 0.25 });
  });

  it('weighs groups the same however large they are', () => {
    const { mean } = bootstrapMacro([[1], Array.from({ length: 99 }, () => 0)]);
    expect(mean).to.equal(0.5);
  });

  it('always holds low <= mean <= high between the extremes', () => {
    const groups = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 8, maxLength: 20 }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(groups, (values) => {
        const { mean, low, high } = bootstrapMacro(values, { seed: 3, resamples: 300 });
        return low <= mean + 1e-9 && mean <= high + 1e-9 && low >= 0 && high <= 1;
      }),
      { numRuns: 50 },
    );
  });

  it('is NaN where a group has no value', () => {
    expect(bootstrapMacro([[1], []]).mean).to.be.NaN;
    expect(bootstrapMean([]).low).to.be.NaN;
  });
});

describe('bench samples', () => {
  it('draw the same items for a seed, in their order, and all where there are no more', () => {
    const items = Array.from({ length: 100 }, (_, i) => i);
    const drawn = sample(items, 10, 1);
    expect(drawn)
      .to.deep.equal(sample(items, 10, 1))
      .and.have.length(10);
    expect(drawn)
      .to.deep.equal([...drawn].sort((a, b) => a - b))
      .and.not.deep.equal(sample(items, 10, 2));
    expect(new Set(drawn)).to.have.length(10);
    expect(sample(items, 200, 1)).to.deep.equal(items);
  });
});

describe('bench fingerprints', () => {
  it('change with the value, and with the name or content of any file below a folder', () => {
    expect(fingerprintOf([{ a: 1 }])).to.equal(fingerprintOf([{ a: 1 }]));
    expect(fingerprintOf([{ a: 1 }])).to.not.equal(fingerprintOf([{ a: 2 }]));
    const root = mkdtempSync(join(tmpdir(), 'bench-print-'));
    try {
      mkdirSync(join(root, 'src', 'deep'), { recursive: true });
      writeFileSync(join(root, 'src', 'deep', 'a.ts'), 'one');
      const before = sourceFingerprint(['src'], root);
      writeFileSync(join(root, 'other.ts'), 'not named');
      expect(sourceFingerprint(['src'], root)).to.equal(before);
      writeFileSync(join(root, 'src', 'deep', 'a.ts'), 'two');
      const changed = sourceFingerprint(['src'], root);
      expect(changed).to.not.equal(before);
      writeFileSync(join(root, 'src', 'deep', 'b.ts'), '');
      expect(sourceFingerprint(['src'], root)).to.not.be.oneOf([before, changed]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

describe('bench markdown', () => {
  it('pads columns by what a terminal shows, Han characters two wide', () => {
    expect(markdownTable(['a', 'b'], [['中文', 'x']])).to.equal('| a    | b   |\n| ---- | --- |\n| 中文 | x   |');
  });

  it('writes shares without the leading zero and differences with their sign', () => {
    expect([share(0.8881), share(1), share(-0.05), share(Number.NaN)]).to.deep.equal(['.888', '1.000', '-.050', '–']);
    expect(withInterval({ mean: 0.5, low: 0.25, high: 1 })).to.equal('.500 [.250, 1.000]');
    expect(difference({ mean: 0.012, low: -0.001, high: 0.02 })).to.equal('+.012 [-.001, +.020]');
  });
});

describe('bench plots', () => {
  it('makes every text safe in XML', () => {
    expect(escapeXml('<a & "b">')).to.equal('&#60;a &#38; &#34;b&#34;&#62;');
    const svg = barChart({ title: 'p95 < 5 & more', series: ['s'], rows: [{ label: '<x>', bars: [{ value: 1 }] }] });
    expect(svg).to.not.match(/<x>|p95 < 5/);
  });

  it('names no attribute twice and closes what it opens, as XML wants it', () => {
    const charts = [
      barChart({ title: 't', series: ['s'], rows: [{ label: 'l', bars: [{ value: 1, low: 0.5, high: 2 }] }] }),
      lineChart({ title: 't', x: 'x', y: 'y', series: [{ name: 's', points: [[1, 1]], dashed: true }], mark: { value: 2, label: 'm' } }),
    ];
    for (const svg of charts) {
      for (const [tag] of svg.matchAll(/<[a-z][^>]*>/g)) {
        const names = [...tag.matchAll(/ ([a-zA-Z][\w-]*)="/g)].map((m) => m[1]);
        expect(new Set(names), tag).to.have.length(names.length);
      }
      const opened = svg.match(/<[a-z][^>]*[^/]>/g)?.length;
      expect(svg.match(/<\/[a-z]+>/g)).to.have.length(opened ?? 0);
    }
  });

  it('draws a bar as long as its value and its interval across it', () => {
    const svg = barChart({
      title: 't',
      series: ['s'],
      max: 1,
      rows: [
        { label: 'half', bars: [{ value: 0.5, low: 0.25, high: 0.75 }] },
        { label: 'whole', bars: [{ value: 1 }] },
      ],
    });
    const widths = [...svg.matchAll(/<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/g)].map((m) => Number(m[1]));
    expect(widths).to.have.length(2);
    expect((widths[0] ?? 0) / (widths[1] ?? 1)).to.be.closeTo(0.5, 0.01);
    const whisker = /<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="\2" stroke="#222222"/.exec(svg);
    expect((Number(whisker?.[3]) - Number(whisker?.[1])) / (widths[1] ?? 1)).to.be.closeTo(0.5, 0.01);
  });

  it('leaves out bars without a value and series without points', () => {
    const bars = barChart({ title: 't', series: ['a', 'b'], rows: [{ label: 'l', bars: [{ value: Number.NaN }, { value: 2 }] }] });
    expect(bars.match(/<rect /g)).to.have.length(2); // ground and one bar
    const lines = lineChart({
      title: 't',
      x: 'x',
      y: 'y',
      series: [
        { name: 'empty', points: [] },
        {
          name: 'full',
          points: [
            [1, 1],
            [2, 4],
          ],
        },
      ],
    });
    expect(lines.match(/<polyline /g)).to.have.length(1);
    expect(lines).to.not.include('empty');
  });

  it('spaces a logarithmic axis by factors and puts the mark at its value', () => {
    const points = [
      [1_000, 5],
      [10_000, 10],
      [100_000, 20],
    ] as const;
    const svg = lineChart({
      title: 't',
      x: 'x',
      y: 'y',
      logX: true,
      series: [{ name: 's', points }],
      mark: { value: 10, label: 'target' },
    });
    const places = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map((m) => [Number(m[1]), Number(m[2])] as const);
    const [a, b, c] = places;
    expect((b?.[0] ?? 0) - (a?.[0] ?? 0)).to.be.closeTo((c?.[0] ?? 0) - (b?.[0] ?? 0), 0.2);
    const mark = /<line x1="[\d.]+" y1="([\d.]+)" x2="[\d.]+" y2="\1" stroke="#b03a2e"/.exec(svg);
    expect(Number(mark?.[1])).to.be.closeTo(b?.[1] ?? 0, 0.2);
    expect(svg).to.include('>target<').and.include('>100k<');
  });

  it('names four to eleven round numbers on an axis', () => {
    expect(ticks(1)).to.deep.equal([0, 0.2, 0.4, 0.6, 0.8, 1]);
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), (end) => {
        const found = ticks(end);
        return found.length >= 3 && found.length <= 11 && (found.at(-1) ?? 0) <= end * 1.001;
      }),
    );
  });
});
