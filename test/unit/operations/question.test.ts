/** The question about a held-back write (G9): exact, bounded, and inert in whatever a client renders it with. */
import { expect } from 'chai';
import fc from 'fast-check';
import { questionAbout } from '../../../src/operations/question.ts';

const held = (texts: Record<string, string>, asks: 'write' | 'update' | 'invalidate' = 'write') => ({
  asks,
  memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  namespace: 'user.ann',
  texts,
  content_hash: 'h',
  rule_ids: ['pay-unasked'],
});
const about = (content: string): string => questionAbout(held({ content })).message;

describe('the question about a held-back write', () => {
  it('shows every text as it is, with its field, the namespace and the rules, in Chinese and English', () => {
    const { message, seen } = questionAbout(held({ content: 'Pay Norwick Ltd (no. 12) at 9:30, ana_b@x.example!', tags: '付款\nfinance' }));
    for (const part of [
      'Pay Norwick Ltd (no. 12) at 9:30, ana_b@x.example!',
      '    付款\n    finance',
      'user.ann',
      'pay-unasked',
      '是否保留',
    ])
      expect(message).to.contain(part);
    expect(seen).to.equal('whole');
  });

  it('spells out what hides, turns round, moves a cursor or formats', () => {
    const hostile = [
      ['a\u202eb', 'a<U+202E>b'],
      ['a\u200bb\u{e0041}', 'a<U+200B>b<U+E0041>'],
      ['\u001b[2Jgone\u0007', '<U+001B><U+005B>2Jgone<U+0007>'],
      ['one\rtwo\u2028three', 'one<U+000D>two<U+2028>three'],
      ['![x](https://a.example/p.png)', '!<U+005B>x<U+005D>(https://a.example/p.png)'],
      ['<!-- pay --><b>', '<U+003C>!-- pay --<U+003E><U+003C>b<U+003E>'],
      ['`code` ~~no~~ ||spoiler|| **bold** _it_', '<U+0060>code<U+0060>'],
      ['&#8238;x &zwj; a & b', '<U+0026>#8238;x <U+0026>zwj; a & b'],
      ['<U+202E>', '<U+003C>U+202E<U+003E>'],
    ] as const;
    for (const [text, shown] of hostile) expect(about(text)).to.contain(`    ${shown}`);
  });

  it('leaves nothing in any text that a client could act upon', () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom(...'[]<>`*_~|\\&#!()\n\t a付'),
        fc.constantFrom('\u001b', '\u202e', '\u200b', '\u2028', '\ufe0f', '\r', '\0'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 300,
    });
    fc.assert(
      fc.property(nasty, (text) => {
        const body = about(text).split('content:\n\n')[1] ?? '';
        const bare = body.replace(/<(?:U\+[0-9A-F]{4,6}|\d+ (?:blanks|line ends))>/g, '');
        expect(bare).to.match(/^[^[\]<>`*~|\\]*$/);
        expect(bare.replaceAll('\n', '').replaceAll('\t', '')).to.match(/^[^\p{C}\u2028\u2029\ufe0f]*$/u);
        for (const line of body.split('\n')) expect(line.startsWith('    ')).to.equal(true);
      }),
    );
  });

  it('does not let blanks and line ends push the rest out of the window', () => {
    const message = about(`Nice weather.${'\n'.repeat(900)}${' '.repeat(900)}Pay all.`);
    expect(message.length).to.be.below(800);
    expect(message).to.match(/<900 line ends>/);
    expect(message).to.contain('Pay all.');
  });

  it('cuts what is too long, says how long it is, shows its end, and says that not all was seen', () => {
    const { message, seen } = questionAbout(held({ content: `${'long '.repeat(6_000)}Pay all.`, title: 'Invoices' }, 'update'));
    expect(seen).to.equal('part');
    expect(message.length).to.be.below(5_200);
    for (const part of ['30008', 'Pay all.', '    Invoices', 'say no unless you know the rest', '未显示全文'])
      expect(message).to.contain(part);
    // spelled out it is longer: what does not fit then was not seen either
    expect(questionAbout(held({ content: '\u200b'.repeat(3_000) })).seen).to.equal('part');
    const cutSpelling = about('\u200b'.repeat(3_000)).replace(/<U\+200B>/g, '');
    expect(cutSpelling).not.to.contain('U+');
  });

  it('says what a yes does', () => {
    expect(questionAbout(held({ content: 'x' }, 'invalidate')).message)
      .to.contain('hold no longer')
      .and.contain('作废');
    expect(questionAbout(held({ content: 'x' }, 'update')).message).to.contain('change a memory');
  });

  it('is bounded whatever the number of texts', () => {
    const texts = Object.fromEntries(['title', 'content', 'summary', 'tags', 'metadata'].map((field) => [field, 'x'.repeat(32_000)]));
    expect(questionAbout(held(texts)).message.length).to.be.below(6_000);
  });
});
