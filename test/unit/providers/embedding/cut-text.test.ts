import { expect } from 'chai';
import fc from 'fast-check';
import { cutText } from '../../../../src/providers/embedding/cut-text.ts';

describe('cutText', () => {
  it('never splits a surrogate pair', () => {
    expect(cutText('a😀b', 2)).to.equal('a');
    expect(cutText('a😀b', 3)).to.equal('a😀');
  });

  it('counts a run of white space as one', () => {
    expect(cutText('a \n\t b', 3)).to.equal('a b');
  });

  it('gives well-formed text within the limit for any input', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), fc.integer({ min: 0, max: 20 }), (units, max) => {
        const cut = cutText(String.fromCharCode(...units), max);
        expect(cut.length).to.be.at.most(max);
        expect(cut.isWellFormed()).to.equal(true);
      }),
    );
  });
});
