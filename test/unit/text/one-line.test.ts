import { expect } from 'chai';
import fc from 'fast-check';
import { oneLine } from '../../../src/text/one-line.ts';
import { fastestMs } from '../../support/fastest.ts';

describe('text/one-line', () => {
  it('joins lines with a blank, and wide characters without one', () => {
    expect(oneLine('Ana · drink:\n  green\t tea \r\n')).to.equal('Ana · drink: green tea');
    expect(oneLine('李明·过敏：\n对花生过敏。\u2028不吃虾')).to.equal('李明·过敏：对花生过敏。不吃虾');
    expect(oneLine('李明\nAna')).to.equal('李明 Ana');
    expect(oneLine(' \n\t ')).to.equal('');
  });

  it('leaves nothing that ends a line, and changes nothing the second time', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '李', '。', ' ', '\t', '\n', '\r', '\u0085', '\u2028', '\u2029', '\f', '\v') }),
        (text) => {
          const line = oneLine(text);
          expect(line).to.not.match(/[\n\r\v\f\u0085\u2028\u2029]|\s{2}|^\s|\s$/u);
          expect(oneLine(line)).to.equal(line);
        },
      ),
    );
  });

  it('takes linear time on long runs of blanks', () => {
    expect(fastestMs(() => oneLine(`?${'\t'.repeat(32_000)}\n${' '.repeat(200_000)}x`))).to.be.below(500);
  });
});
