import { expect } from 'chai';
import fc from 'fast-check';
import { sentencePieces, sentencesOf } from '../../../src/text/sentences.ts';

describe('text/sentences', () => {
  it('ends sentences at Chinese and English marks, with the closing marks that belong to them, and at line ends', () => {
    expect(sentencesOf('The train leaves at 9. Is it late? “No!” she said.\nBring tea')).to.deep.equal([
      'The train leaves at 9.',
      'Is it late?',
      '“No!”',
      'she said.',
      'Bring tea',
    ]);
    expect(sentencesOf('李明对花生过敏。他爱喝龙井茶！“真的？”对；下周去杭州……再说')).to.deep.equal([
      '李明对花生过敏。',
      '他爱喝龙井茶！',
      '“真的？”',
      '对；',
      '下周去杭州……',
      '再说',
    ]);
  });

  it('keeps versions, decimals, initials and abbreviations whole', () => {
    expect(sentencesOf('Dr. Chen runs v2.3.1 at 3.5 GHz. It costs approx. 40 EUR, e.g. in J. Smith’s shop. Fine.')).to.deep.equal([
      'Dr. Chen runs v2.3.1 at 3.5 GHz.',
      'It costs approx. 40 EUR, e.g. in J. Smith’s shop.',
      'Fine.',
    ]);
    expect(sentencesOf('We sell tea, coffee, etc. Prices rose.')).to.deep.equal(['We sell tea, coffee, etc.', 'Prices rose.']);
  });

  it('takes list marks off and leaves out what holds no word', () => {
    expect(sentencesOf('- milk\n2) bread\n三、鸡蛋\n---\n…')).to.deep.equal(['milk', 'bread', '鸡蛋']);
    expect(sentencesOf('')).to.deep.equal([]);
  });

  it('covers any text without a gap, and quotes nothing that does not stand in it', () => {
    const marks = fc.constantFrom('a', 'B', ' ', '.', '。', '!', '\n', '”', '茶', '7', 'Dr.', '- ', '😀');
    fc.assert(
      fc.property(
        fc.array(marks).map((parts) => parts.join('')),
        (text) => {
          const pieces = sentencePieces(text);
          expect(pieces.map(({ start, end }) => text.slice(start, end)).join('')).to.equal(text);
          for (const sentence of sentencesOf(text)) expect(text).to.contain(sentence);
        },
      ),
    );
  });
});
