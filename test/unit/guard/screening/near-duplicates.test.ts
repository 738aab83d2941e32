/** What counts as the same text: only what says the same, in Chinese and English; figures, names, days and negations always differ. */
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { loadRelationPolicy } from '../../../../src/memory/conflicts/relation-policy.ts';
import { relationOf } from '../../../../src/memory/conflicts/relation.ts';
import { claimKey, overlap, shinglesOf, signatureOf, wordsOf } from '../../../../src/guard/screening/near-duplicates.ts';

const key = (text: string): string => claimKey(wordsOf(text));

describe('near-duplicates', () => {
  it('takes texts that differ in case, width, punctuation, articles and courtesies alone for one', () => {
    for (const [a, b] of [
      ['The deploy key rotates on Friday.', 'deploy key rotates on friday!'],
      ['Please pay the invoice to Bob', 'pay invoice, to “Bob”'],
      ['李明对花生过敏。', '李明对花生过敏！！'],
      ['请把发票寄给王芳', '把发票寄给王芳吧'],
      ['Ｐｏｒｔ ５４３２', 'port 5432'],
      ['pay\u200b Bob', 'pay Bob'],
      ['ﬁnd the café №5', 'find café No5'],
    ]) {
      expect(key(a ?? ''), a).to.equal(key(b ?? ''));
      expect(signatureOf(a ?? ''), a).to.equal(signatureOf(b ?? ''));
    }
  });

  it('gives texts with one key one signature', () => {
    const part = fc.constantFrom(
      'the',
      'The ',
      'a',
      'tea',
      ' ',
      '茶',
      '的',
      '请',
      '５',
      '5',
      'ﬀ',
      'ff',
      '\u200b',
      'é',
      'e\u0301',
      '²',
      'Ⅳ',
      'İ',
      'ß',
      '-',
      '.',
      '?',
      '"',
    );
    const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
    const byKey = new Map<string, readonly [string, number]>();
    fc.assert(
      fc.property(text, (one) => {
        const known = byKey.get(key(one));
        if (known !== undefined) expect(signatureOf(one), JSON.stringify([one, known[0]])).to.equal(known[1]);
        byKey.set(key(one), [one, signatureOf(one)]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('keeps apart what differs in a number, date, name, negation, direction, tense or sign', () => {
    for (const [a, b] of [
      ['port 5432', 'port 5433'],
      ['version 1.2', 'version 12'],
      ['the meeting is on 2026-03-01', 'the meeting is on 2026-03-02'],
      ['Ann likes green tea', 'Bob likes green tea'],
      ['李明对花生过敏', '李芳对花生过敏'],
      ['Ann likes tea', 'Ann does not like tea'],
      ['可以转账', '不可以转账'],
      ['the train from Paris to Lyon', 'the train to Paris from Lyon'],
      ['before lunch', 'after lunch'],
      ['Ann is in Paris', 'Ann was in Paris'],
      ['it is -5 degrees', 'it is 5 degrees'],
      ['knows C', 'knows C++'],
      ['Bob pays', 'Bob pays?'],
      ['他喜欢茶', '他喜欢茶吗'],
      ['dog bites man', 'man bites dog'],
      ['the load is ≥ 5', 'the load is ≤ 5'],
      ['load >= 5', 'load <= 5'],
      ['the release is ✅', 'the release is ❌'],
      ['评审结果 👍', '评审结果 👎'],
      ['the flag is 🇫🇷', 'the flag is 🇩🇪'],
      ['the flag is \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}', 'the flag is \u{1F3F4}'],
      ['the video dQw4w9WgXcQ', 'the video dqw4w9wgxcq'],
      ['令牌是 aB3dE9', '令牌是 ab3de9'],
      ['exclude !cache', 'exclude cache'],
      ['probability .5', 'probability 5'],
      ['range 2:1', 'range 2 1'],
      ['a or (b and c)', '(a or b) and c'],
      ['x ∈ A', 'x ∉ A'],
    ])
      expect(key(a ?? ''), a).not.to.equal(key(b ?? ''));
  });

  it('tells apart by signs and case whatever a merge tells apart', () => {
    const policy = loadRelationPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies'));
    const part = fc.constantFrom(
      'port',
      'Port',
      'aB3d',
      'ab3d',
      '端口',
      ' ',
      ' ',
      '5',
      '≥',
      '≤',
      '✅',
      '❌',
      '(',
      ')',
      '!',
      '.',
      '-',
      ':',
      '+',
      '👍🏽',
      '👍',
      '"',
    );
    const text = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => `the value ${parts.join('')} stands`);
    fc.assert(
      fc.property(text, text, (one, other) => {
        if (key(one) !== key(other)) return;
        const { reason } = relationOf({ content: one }, { content: other }, policy);
        expect(reason, JSON.stringify([one, other])).not.to.equal('other signs or letters');
      }),
      { numRuns: 3_000 },
    );
  });

  it('measures overlap between 0 and 1, alike from both sides', () => {
    const words = fc.array(fc.constantFrom('a1', 'b', 'c', 'd'), { maxLength: 12 });
    fc.assert(
      fc.property(words, words, (a, b) => {
        const [x, y] = [shinglesOf(a), shinglesOf(b)];
        expect(overlap(x, y)).to.be.within(0, 1).and.to.equal(overlap(y, x));
        expect(overlap(x, x)).to.equal(1);
      }),
    );
  });
});
