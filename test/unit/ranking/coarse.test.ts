import { expect } from 'chai';
import fc from 'fast-check';
import type { RankedHit, SignalPart } from '../../../src/domain/ranking.ts';
import { coarse } from '../../../src/ranking/coarse.ts';
import { memoryRecord } from '../../support/records.ts';

const record = memoryRecord({});
const unit = fc.double({ min: 0, max: 1, noNaN: true });
const part = fc
  .record({
    signal: fc.constantFrom('lexical', 'vector', 'importance'),
    raw: fc.double({ min: 0.01, max: 300, noNaN: true }),
    normalised: unit,
    weight: fc.double({ min: 0, max: 10, noNaN: true }),
  })
  .map((values): SignalPart => ({ ...values, contribution: values.normalised * values.weight, sentence: 's' }));
const hit = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 9 }), fc.double({ min: 0, max: 500, noNaN: true }))
  .map(([parts, engineScore]): RankedHit => ({
    record,
    parts,
    engineScore,
    score: Math.min(
      1,
      parts.reduce((sum, p) => sum + p.contribution, 0),
    ),
  }));
const stepOf = ({ parts }: RankedHit): number => 0.001 * Math.max(1, ...parts.map(({ weight }) => weight));
const digitsOf = (value: number): number => value.toExponential().split('e')[0]!.replace('.', '').length;

describe('ranking/coarse', () => {
  it('keeps parts that add up to the score within half a step each', () => {
    fc.assert(
      fc.property(hit, (exact) => {
        const shown = coarse(exact);
        const step = stepOf(exact);
        const sum = shown.parts.reduce((total, p) => total + p.contribution, 0);
        expect(Math.abs(Math.min(1, sum) - shown.score)).to.be.at.most((step * (shown.parts.length + 1)) / 2 + 1e-9);
        expect(Math.abs(shown.score - exact.score)).to.be.at.most(step / 2 + 1e-9);
      }),
    );
  });

  it('tells words’ statistics in two digits at most, whatever the weights', () => {
    fc.assert(
      fc.property(hit, (exact) => {
        const shown = coarse(exact);
        expect(digitsOf(shown.engineScore)).to.be.at.most(2);
        for (const [i, p] of shown.parts.entries()) {
          if (p.signal === 'lexical') expect(Math.max(digitsOf(p.raw ?? 0), digitsOf(p.normalised))).to.be.at.most(2);
          else expect(p.raw).to.equal(exact.parts[i]?.raw);
        }
      }),
    );
  });

  it('never turns two hits of one search around', () => {
    fc.assert(
      fc.property(hit, unit, unit, (exact, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(coarse({ ...exact, score: low }).score).to.be.at.most(coarse({ ...exact, score: high }).score);
      }),
    );
  });
});
