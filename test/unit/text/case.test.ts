import { expect } from 'chai';
import fc from 'fast-check';
import { foldCase, hasOwnCase } from '../../../src/text/case.ts';

describe('the case of a word', () => {
  it('is a part of it where letters of both cases mix inside, or digits stand among capitals', () => {
    for (const word of ['dQw4w9WgXcQ', 'iPhone', 'aBc', 'fooBar_baz', 'ABC123', 'Sector7', 'x-aB3'])
      expect(hasOwnCase(word), word).to.equal(true);
  });

  it('is that of the sentence for any other word, an abbreviation or its plural', () => {
    for (const word of ['rome', 'Rome', 'ROME', 'PDFs', 'T-81', 'Anne-Marie', "O'Brien", 'abc123', '5432', '北京'])
      expect(hasOwnCase(word), word).to.equal(false);
  });

  it('is kept word by word, beside Chinese too, and folding twice changes nothing', () => {
    expect(foldCase('The ID is dQw4w9WgXcQ')).to.equal('the id is dQw4w9WgXcQ');
    expect(foldCase('我用Vim写Go代码，编号aB3')).to.equal('我用vim写go代码，编号aB3');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(foldCase(foldCase(text))).to.equal(foldCase(text));
      }),
    );
  });
});
