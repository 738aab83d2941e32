import { expect } from 'chai';
import fc from 'fast-check';
import { analyze } from '../../../src/text/analyze.ts';
import { watchCalls } from './spy.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 400 });
const mixedText = fc
  .array(fc.constantFrom('我', '喜欢', '喝茶', '𠮷', ' ', 'tea', "it's", 'Ａ', '。', '\n', 'é', '한국', '\ud83d', '5432'), {
    maxLength: 80,
  })
  .map((parts) => parts.join(''));

describe('analyze', () => {
  it('stems English words and leaves stop words out', () => {
    expect(analyze('The servers were running in the cities').uni).to.deep.equal(['server', 'were', 'run', 'citi']);
  });

  it('leaves no tail of a possessive or contraction', () => {
    expect(analyze("Caroline's tea, I’ll drink").uni).to.deep.equal(['carolin', 'tea', 'drink']);
  });

  it('gives Han as characters, bigrams and dictionary words', () => {
    const { uni, bi, word } = analyze('喜欢喝茶');
    expect(uni).to.deep.equal(['喜', '欢', '喝', '茶']);
    expect(bi).to.deep.equal(['喜欢', '欢喝', '喝茶']);
    expect(word).to.include('喜欢');
  });

  it('makes no bigram across punctuation, spaces or other scripts', () => {
    expect(analyze('茶，酒 水a火').bi).to.deep.equal([]);
  });

  it('leaves Chinese stop words out of the dictionary words', () => {
    expect(analyze('什么').word).to.deep.equal([]);
  });

  it('keeps words of other scripts whole, with their marks', () => {
    expect(analyze('Привет мир, カタカナ 한국어 café हिन्दी').uni).to.deep.equal(['привет', 'мир', 'カタカナ', '한국어', 'café', 'हिन्दी']);
  });

  it('treats full-width and plain characters alike', () => {
    expect(analyze('ＶＰＮ　５４３２')).to.deep.equal(analyze('VPN 5432'));
  });

  it('keeps characters outside the basic plane whole', () => {
    expect(analyze('𠮷野家').uni).to.deep.equal(['𠮷', '野', '家']);
    expect(analyze('𠮷野家').bi).to.deep.equal(['𠮷野', '野家']);
  });

  it('finds the same words in a long unpunctuated run as in its parts', () => {
    const sentence = '我们昨天在北京讨论了数据库迁移';
    const expected = analyze(sentence).word;
    const found = analyze(`${sentence}，`.repeat(200)).word;
    expect(found).to.have.length(expected.length * 200);
    expect(new Set(found)).to.deep.equal(new Set(expected));
  });

  it('shortens a blob to a token that the index keeps', () => {
    const [token] = analyze('x'.repeat(5_000)).uni;
    expect(token).to.have.length(128);
  });

  it('never hands the segmenter, which takes quadratic time, more than a bounded chunk', () => {
    const lengths: number[] = [];
    const segmented = (work: () => void): void =>
      watchCalls(Intl.Segmenter.prototype, 'segment', (_, input) => lengths.push(String(input).length), work);
    segmented(() => analyze('数据库迁移方案'.repeat(3_000)));
    segmented(() => analyze('数据库，迁移 plan 方案。'.repeat(1_000)));
    const chinese = lengths.length;
    segmented(() => analyze('no Han in this text at all '.repeat(100)));
    expect(lengths.length, 'calls for a text without Han').to.equal(chinese);
    expect(Math.max(...lengths)).to.be.at.most(256);
    expect(lengths.length).to.be.at.most(150);
  });

  it('never throws, and NFKC text gives what the text itself gives', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, mixedText), (text) => {
        expect(analyze(text.normalize('NFKC'))).to.deep.equal(analyze(text));
      }),
    );
  });

  it('gives only tokens that the whitespace tokenizer keeps as one', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, mixedText), (text) => {
        const { uni, bi, word } = analyze(text);
        for (const token of [...uni, ...bi, ...word]) expect(token).to.match(/^\S{1,255}$/u);
      }),
    );
  });

  it('gives one bigram fewer than Han characters for a single run', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('数', '据', '库', '𠮷'), { minLength: 1, maxLength: 600 }), (chars) => {
        const { uni, bi } = analyze(chars.join(''));
        expect(uni).to.deep.equal(chars);
        expect(bi).to.have.length(chars.length - 1);
      }),
      { numRuns: 30 },
    );
  });
});
