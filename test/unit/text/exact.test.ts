/** What a question wants to the letter: which codes are strong, which quotations are phrases. */
import { expect } from 'chai';
import fc from 'fast-check';
import { exactItems } from '../../../src/text/exact.ts';

const codesIn = (question: string): string[] => exactItems(question).flatMap((item) => (item.kind === 'code' ? [item.code] : []));
const phrasesIn = (question: string): string[] =>
  exactItems(question).flatMap((item) => (item.kind === 'phrase' ? [[...item.uni, ...item.bi].join(' ')] : []));

describe('exact items of a question', () => {
  it('are identifiers of letters and digits, versions, numbers of four digits, addresses and names with underscores', () => {
    expect(codesIn('Where are A-8841 and QX-48213?')).to.deep.equal(['a-8841', 'qx-48213']);
    expect(codesIn('ERR_CONN_RESET 出在 v2.3.1 还是 10.0.0.17？')).to.deep.equal(['err_conn_reset', 'v2.3.1', '10.0.0.17']);
    expect(codesIn('订单号884139发货了吗，电话 138-0013-8000')).to.deep.equal(['884139', '138-0013-8000', '13800138000']);
    expect(codesIn('谁的邮箱是 li_mei@example.com？')).to.deep.equal(['li_mei@example.com']);
    expect(codesIn('Who has locker 7312? 谁用 5432 端口？')).to.deep.equal(['7312', '5432']);
    expect(codesIn('Does iphone15 fit? Is INV2024-00817 paid?')).to.deep.equal(['iphone15', 'inv2024-00817']);
  });

  it('are no years, dates, times, amounts or short numbers, in either language', () => {
    for (const question of [
      'What happened in 2023, on 2023-05-08, 5/4/2024, 04.05.24 or 20240504 at 10:30?',
      'Did she run 10km in 45min at 9am in the 1980s, 50-60 times, 3.5 or 2023-2024, 100%?',
      'A 3-year-old in an 18th-century house, mid-2023, port 443, 5G, 24-hour shop, 1500 or 3400 people, since 1876',
      '2023年5月4日下午3点花了1200元买了2斤茶，881号楼',
    ])
      expect(exactItems(question), question).to.deep.equal([]);
  });

  it('are phrases in the quotation marks of both scripts, and titles, but no single words and no whole questions', () => {
    expect(phrasesIn('Who said "the red kettle leaks"?')).to.deep.equal(['red kettl leak']);
    expect(phrasesIn('谁说过“水壶漏水了”？')).to.deep.equal(['水壶 壶漏 漏水 水了']);
    expect(phrasesIn('「蓝色水壶」和『红茶杯子』在哪')).to.deep.equal(['蓝色 色水 水壶', '红茶 茶杯 杯子']);
    expect(phrasesIn('《活着》讲了什么？')).to.deep.equal(['活着']);
    expect(phrasesIn('What does "tea" mean to her, and “茶叶” to him?')).to.deep.equal([]);
    expect(phrasesIn('"What colour is the red kettle?"')).to.deep.equal([]);
    expect(phrasesIn("What's Ann's and Bob's kettle like?")).to.deep.equal([]);
  });

  it('are at most eight, of bounded size, for any text', () => {
    expect(exactItems(Array.from({ length: 40 }, (_, i) => `A-${10_000 + i}`).join(' '))).to.have.length(8);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
        const items = exactItems(`${text} "${text}" A-8841`);
        expect(items.length).to.be.at.most(8);
        for (const item of items) if (item.kind === 'phrase') expect(item.uni.length + item.bi.length).to.be.within(1, 32);
      }),
    );
  });
});
