import { expect } from 'chai';
import fc from 'fast-check';
import { capitalisedWords, queryTerms } from '../../../src/text/query-terms.ts';
import { watchCalls } from './spy.ts';

describe('capitalisedWords', () => {
  const cases: [string, string[]][] = [
    ['What did Caroline research?', ['Caroline']],
    ["What is Melanie's favourite book?", ['Melanie']],
    ['Did Bob and Alice meet in Paris?', ['Bob', 'Alice', 'Paris']],
    ['I met Bob. Then we left. Was it fun?', ['Bob']],
    ['Who is Dr. Smith?', ['Smith']],
    ['When do I meet on Monday in May?', []],
    ['does NASA know "The Matrix" by Jean-Luc?', ['NASA', 'Matrix', 'Jean', 'Luc']],
    ['WHAT DID BOB SAY', []],
    ['我和Caroline聊过什么 tea', ['Caroline']],
    ['what did bob say', []],
    ['', []],
  ];
  for (const [question, expected] of cases) {
    it(`finds ${expected.join(', ') || 'no name'} in "${question}"`, () => {
      expect(capitalisedWords(question)).to.deep.equal(expected);
    });
  }
});

describe('queryTerms', () => {
  it('gives stems and names of an English question, each once', () => {
    expect(queryTerms('Which cities did Caroline visit, and which city did Bob visit?')).to.deep.equal({
      uni: ['citi', 'carolin', 'visit', 'bob'],
      bi: [],
      word: [],
      names: ['carolin', 'bob'],
    });
  });

  it('gives no single Han character where there are bigrams', () => {
    const { uni, bi } = queryTerms('我的VPN密码');
    expect(uni).to.deep.equal(['vpn']);
    expect(bi).to.deep.equal(['我的', '密码']);
  });

  it('gives a lone Han character itself', () => {
    expect(queryTerms('茶').uni).to.deep.equal(['茶']);
    expect(queryTerms('T恤和衣服').uni).to.deep.equal(['t']);
    expect(queryTerms('A 茶 喝茶').uni).to.include('茶');
  });

  it('drops a lone stop character unless it is the whole question', () => {
    expect(queryTerms('VPN 和 SSH').uni).to.deep.equal(['vpn', 'ssh']);
    expect(queryTerms('的').uni).to.deep.equal(['的']);
  });

  it('keeps the beginning and the end of a long question', () => {
    const filler = Array.from({ length: 400 }, (_, i) => `filler${i}`).join(' ');
    const { uni } = queryTerms(`deployment ${filler} runbook`);
    expect(uni).to.have.length(128);
    expect(uni[0]).to.equal('deploy');
    expect(uni.at(-1)).to.equal('runbook');
  });

  it('shares the room between English and Chinese terms', () => {
    const english = Array.from({ length: 150 }, (_, i) => `w${i}`).join(' ');
    const chinese = Array.from({ length: 150 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
    const { uni, bi } = queryTerms(`${english} ${chinese}`);
    expect(uni.length).to.be.at.least(40);
    expect(bi.length).to.be.at.least(40);
  });

  it('hands a 4,000-character question to the segmenter only in part', () => {
    let units = 0;
    const count = (_: unknown, input: unknown): void => void (units += String(input).length);
    watchCalls(Intl.Segmenter.prototype, 'segment', count, () => queryTerms('数据库迁移方案'.repeat(600)));
    expect(units).to.be.greaterThan(0);
    expect(units).to.be.at.most(1_250);
  });

  it('never throws and gives at most 128 distinct terms in all for any question', () => {
    const words = fc.array(fc.constantFrom('Caroline ', '数据', '库', ' tea', '. ', 'Bob’s ', '𠮷', '的', ' x1'), { maxLength: 900 });
    const varied = fc.string({ unit: 'binary', minLength: 0, maxLength: 4_000 });
    fc.assert(
      fc.property(
        fc.oneof(
          varied,
          words.map((all) => all.join('')),
        ),
        (question) => {
          const { uni, bi, word, names } = queryTerms(question);
          expect(uni.length + bi.length + word.length + names.length).to.be.at.most(128);
          for (const list of [uni, bi, word, names]) expect(new Set(list).size).to.equal(list.length);
        },
      ),
    );
  });
});
