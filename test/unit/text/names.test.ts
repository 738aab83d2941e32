/** Which names a question calls: capitalised words, and Chinese personal names that the dictionary does not know. */
import { expect } from 'chai';
import fc from 'fast-check';
import { exactItems } from '../../../src/text/exact.ts';
import { namesIn } from '../../../src/text/names.ts';

const found = (question: string): string[] => namesIn(question).map(({ uni, bi }) => [...uni, ...bi].join(' '));

describe('names of a question', () => {
  it('are its capitalised words, but those that open a sentence or are days and months', () => {
    expect(found('Where does Zorvane keep the key?')).to.deep.equal(['zorvan']);
    expect(found('What did Quilmore and Thalwick say on Monday?')).to.deep.equal(['quilmor', 'thalwick']);
    expect(found('Where is the key?')).to.deep.equal([]);
  });

  it('are surnames with one or two characters behind them that are no word', () => {
    expect(found('慕容翎岚的备用钥匙在哪里？')).to.deep.equal(['慕容 容翎 翎岚']);
    expect(found('王磊昨天说了什么')).to.deep.equal(['王磊']);
    expect(found('你还记得蔺瀚昀收到了什么吗')).to.deep.equal(['蔺瀚 瀚昀']);
  });

  it('are read in Traditional script too', () => {
    expect(found('張瀚昀昨天說了什麼')).to.deep.equal(['張瀚 瀚昀']);
    expect(found('歐陽翎嵐的備用鑰匙在哪裡？')).to.deep.equal(['歐陽 陽翎 翎嵐']);
    expect(found('陳說了什麼')).to.deep.equal([]);
    expect(found('錢都花在哪裡了')).to.deep.equal([]);
  });

  it('are no ordinary words that begin like a surname', () => {
    for (const question of [
      '高兴的时候做什么',
      '方便的话几点见',
      '白天去哪里',
      '周末和谁吃饭',
      '钱都花在哪里了',
      '黄河有多长',
      '路上看到了什么',
    ])
      expect(found(question), question).to.deep.equal([]);
  });

  it('are asked for to the letter where no code and no phrase is', () => {
    expect(exactItems('What did Zorvane receive?')).to.deep.equal([{ kind: 'name', uni: ['zorvan'], bi: [] }]);
    expect(exactItems('What did Zorvane say of A-8841?').map(({ kind }) => kind)).to.deep.equal(['code']);
  });

  it('are at most four, each once, for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('王', '磊', '欧', '阳', '的', ' ', 'A', 'nn', '。', '高', '兴'), maxLength: 600 }),
        (text) => {
          const names = found(text);
          expect(names.length).to.be.at.most(4);
          expect(new Set(names).size).to.equal(names.length);
        },
      ),
    );
  });
});
