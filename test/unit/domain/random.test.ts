import { expect } from 'chai';
import { randomFew } from '../../../src/domain/random.ts';

describe('domain/random', () => {
  it('gives as many bytes as are asked for, over the end of a page too, and none twice', () => {
    const drawn = Array.from({ length: 2_000 }, () => randomFew(10));
    expect(new Set(drawn.map((bytes) => bytes.length))).to.deep.equal(new Set([10]));
    expect(new Set(drawn.map((bytes) => bytes.toString('hex'))).size).to.equal(2_000);
  });

  it('gives bytes that later draws leave alone', () => {
    const first = randomFew(8);
    const copy = first.toString('hex');
    for (let i = 0; i < 2_000; i += 1) randomFew(8);
    expect(first.toString('hex')).to.equal(copy).and.not.equal('0'.repeat(16));
  });
});
