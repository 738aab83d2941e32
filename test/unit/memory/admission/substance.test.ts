import { expect } from 'chai';
import fc from 'fast-check';
import { commonWords, substanceOf } from '../../../../src/memory/admission/substance.ts';

const common = commonWords(['the', 'is', 'make', 'try', 'run', 'stop', '我', '我们', '的', '觉得', '这个']);

describe('substance of a sentence', () => {
  it('counts words that no talk is made of, each once, whatever their script', () => {
    const rows: readonly (readonly [string, number])[] = [
      ['the oven is the oven', 1],
      ['the dentist is 40 km off', 4],
      ['我们的阳台', 1],
      ['我觉得这个', 0],
      ['我们的redis端口', 2],
      ['...!?', 0],
      ['', 0],
    ];
    for (const [text, words] of rows) expect(substanceOf(text, common), text).to.equal(words);
  });

  it('takes the forms of a common word for the word', () => {
    for (const text of ["makes making make's", 'tries tried trying', 'running runs', 'stopped stopping'])
      expect(substanceOf(text, common), text).to.equal(0);
  });

  it('finds nothing common where no word is listed', () => {
    expect(substanceOf('the 阳台', commonWords([]))).to.equal(2);
  });

  it('never falls by saying more', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(substanceOf(`${a} ${b}`, common)).to.be.at.least(substanceOf(a, common));
      }),
    );
  });
});
