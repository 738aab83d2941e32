import { expect } from 'chai';
import { holdsNow } from '../../../src/ranking/holds-now.ts';

const words = (...texts: string[]): string[][] => holdsNow(texts).map((found) => [...found]);

describe('a question for what holds now', () => {
  it('gives the words of what it asks about, of both its wordings', () => {
    expect(words('Where does Dana live now?')).to.deep.equal([['dana', 'live']]);
    expect(words('爷爷用什么手机？')).to.deep.equal([['爷', '用', '手', '机']]);
    expect(words('房租每个月多少钱？')).to.deep.equal([['房', '租', '每', '月', '钱']]);
    expect(words('Which plan is the account on?', 'account plan')).to.deep.equal([
      ['plan', 'account'],
      ['account', 'plan'],
    ]);
    expect(words('What car does Ana have, and how many?')).to.deep.equal([['car', 'ana']]);
  });

  it('is none that asks what was, in either language or wording', () => {
    for (const text of [
      'Where did Dana live?',
      'What was the old plan?',
      'Which phone had Henry before?',
      'What has Ana been painting?',
      'What did she say yesterday?',
      'When is the stand-up?',
      'What happened in 2023?',
      '老周以前在哪家公司上班？',
      '她去了哪里？',
      '他吃过什么药？',
      '上次的密码是多少？',
      '去年用的是哪个套餐？',
    ])
      expect(words(text), text).to.deep.equal([]);
    expect(words('Where does Dana live?', 'Where did Dana live?')).to.deep.equal([]);
  });
});
