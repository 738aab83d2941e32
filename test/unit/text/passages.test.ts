import { expect } from 'chai';
import fc from 'fast-check';
import { splitPassages } from '../../../src/text/passages.ts';
import { countTokens, head } from '../../../src/text/tokens.ts';
import { watchCalls } from './spy.ts';

const CHINESE = '我们昨天讨论了数据库迁移的方案。';
const ENGLISH = 'We moved the database to another host. ';

/** Text of sentences, blobs, spaces and characters outside the basic plane, long enough to be split. */
const content = fc
  .array(
    fc.constantFrom(
      CHINESE,
      ENGLISH,
      '𠮷'.repeat(90),
      '👍👍',
      'x'.repeat(200),
      'Is v2.3.1 out? ',
      '\n\n',
      '   ',
      '他说：“好！” ',
      'привет ',
      '0123456789abcdef',
    ),
    {
      minLength: 0,
      maxLength: 120,
    },
  )
  .map((parts) => parts.join(''));
const limits = fc.record({ maxTokens: fc.integer({ min: 20, max: 120 }), overlapTokens: fc.integer({ min: 0, max: 60 }) });

/** How often `work` reads a code point. */
function codePointReads(work: () => void): number {
  let reads = 0;
  watchCalls(String.prototype, 'codePointAt', () => reads++, work);
  return reads;
}

describe('countTokens', () => {
  it('counts Han characters as one and Latin words as 1.3', () => {
    expect(countTokens('数据库')).to.equal(3);
    expect(countTokens('one two three four five six seven eight nine ten')).to.equal(13);
    expect(countTokens('')).to.equal(0);
  });

  it('counts a hash by its length, not as one word', () => {
    expect(countTokens('9f86d081884c7d659a2feaa0c55ad015')).to.be.at.least(16);
  });
});

describe('head', () => {
  it('cuts between words and characters', () => {
    expect(head('one two three', 3)).to.equal('one two ');
    expect(head('数据库迁移', 3)).to.equal('数据库');
    expect(head('short', 400)).to.equal('short');
  });

  it('is the longest beginning within the limit, well formed where the text is', () => {
    fc.assert(
      fc.property(content, fc.integer({ min: 0, max: 200 }), (text, tokens) => {
        const start = head(text, tokens);
        expect(text.startsWith(start)).to.equal(true);
        expect(countTokens(start)).to.be.at.most(tokens);
        expect(start.isWellFormed()).to.equal(true);
      }),
    );
  });
});

describe('splitPassages', () => {
  it('gives none for content of at most 400 tokens', () => {
    expect(splitPassages('')).to.deep.equal([]);
    expect(splitPassages('字'.repeat(400))).to.deep.equal([]);
    expect(splitPassages(`${'字'.repeat(400)}。`)).to.not.deep.equal([]);
  });

  it('cuts Chinese and English at sentence ends', () => {
    for (const sentence of [CHINESE, ENGLISH]) {
      const passages = splitPassages(sentence.repeat(100));
      expect(passages.length).to.be.greaterThan(2);
      for (const { text } of passages) {
        expect(text.startsWith(sentence)).to.equal(true);
        expect(text.endsWith(sentence)).to.equal(true);
      }
    }
  });

  it('does not take the dots of versions and numbers for sentence ends', () => {
    const passages = splitPassages('Version v2.3.1 costs 3.50 at example.com now. '.repeat(60));
    for (const { text } of passages) expect(text).to.match(/^Version.*now\. $/s);
  });

  it('keeps closing quotes with their sentence', () => {
    for (const { text } of splitPassages('他说：“好的，没问题！”'.repeat(80))) expect(text.endsWith('！”')).to.equal(true);
  });

  it('overlaps neighbours by whole sentences of about 50 tokens', () => {
    const passages = splitPassages(CHINESE.repeat(100));
    for (const [index, passage] of passages.slice(1).entries()) {
      const shared = (passages[index]?.end ?? 0) - passage.start;
      expect(shared).to.be.within(CHINESE.length * 2, 55);
    }
  });

  it('cuts a sentence longer than the limit hard, with overlap', () => {
    const passages = splitPassages('字'.repeat(1_000));
    expect(passages.map(({ start, end }) => [start, end])).to.deep.equal([
      [0, 400],
      [350, 750],
      [700, 1_000],
    ]);
  });

  it('covers the whole text in order with true offsets, within the limit, never inside a surrogate pair', () => {
    fc.assert(
      fc.property(content, limits, (text, options) => {
        const passages = splitPassages(text, options);
        if (passages.length === 0) {
          expect(countTokens(text)).to.be.at.most(options.maxTokens);
          return;
        }
        let covered = 0;
        let lastStart = -1;
        for (const passage of passages) {
          expect(text.slice(passage.start, passage.end)).to.equal(passage.text);
          expect(passage.start).to.be.at.most(covered).and.greaterThan(lastStart);
          expect(passage.end).to.be.greaterThan(covered);
          expect(countTokens(passage.text)).to.be.at.most(options.maxTokens);
          expect(passage.text.isWellFormed()).to.equal(true);
          covered = passage.end;
          lastStart = passage.start;
        }
        expect(covered).to.equal(text.length);
      }),
    );
  });

  it('never throws on any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        const passages = splitPassages(text, { maxTokens: 30, overlapTokens: 5 });
        if (passages.length > 0) expect(passages.at(-1)?.end).to.equal(text.length);
      }),
    );
  });

  it('reads each character a bounded number of times, whatever the text is made of', () => {
    for (const unit of [CHINESE, ENGLISH, '字', 'x', '.', '。', '\n', ' ', '👍', '." ', '0']) {
      const text = unit.repeat(Math.ceil(20_000 / unit.length));
      expect(
        codePointReads(() => splitPassages(text)),
        JSON.stringify(unit),
      ).to.be.within(1, 6 * text.length);
    }
  });

  it('gives out at most three times the text it was given', () => {
    fc.assert(
      fc.property(content, (text) => {
        const total = splitPassages(text, { maxTokens: 60, overlapTokens: 10 }).reduce((sum, passage) => sum + passage.text.length, 0);
        expect(total).to.be.at.most(3 * text.length);
      }),
    );
  });
});
