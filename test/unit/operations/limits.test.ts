import { expect } from 'chai';
import { BODY_BYTES_PER_POINT, bodyPoints, CHARS_PER_POINT, textPoints } from '../../../src/operations/limits.ts';

describe('points for the size of a call', () => {
  it('are none for what fits in one point, and grow with every text wherever it stands', () => {
    expect(textPoints({ content: 'x'.repeat(CHARS_PER_POINT - 8) })).to.equal(0);
    expect(textPoints({ content: 'x'.repeat(CHARS_PER_POINT) })).to.equal(1);
    const item = {
      content: 'x'.repeat(CHARS_PER_POINT),
      tags: ['t'.repeat(CHARS_PER_POINT)],
      metadata: { a: { b: 'm'.repeat(CHARS_PER_POINT) } },
    };
    expect(textPoints({ items: [item, item] })).to.equal(6);
  });

  it('count the names that a caller chooses', () => {
    const metadata = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`${i}`.padEnd(64, 'k'), true]));
    expect(textPoints({ metadata })).to.equal(2);
  });

  it('take a number as one character, so that vectors are no texts', () => {
    expect(textPoints({ vectors: { space: Array<number>(CHARS_PER_POINT * 2).fill(0.123456789) } })).to.equal(2);
    expect(textPoints({ top_k: 5, explain: true, filter: null })).to.equal(0);
  });

  it('follow the bytes of a body, and a length that is none counts nothing', () => {
    expect([0, BODY_BYTES_PER_POINT - 1, BODY_BYTES_PER_POINT, 8 * 1_048_576].map(bodyPoints)).to.deep.equal([0, 0, 1, 128]);
    expect([Number.NaN, -1, Infinity].map(bodyPoints)).to.deep.equal([0, 0, 0]);
  });
});
