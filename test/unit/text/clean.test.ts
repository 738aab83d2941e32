import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { findUnstorable, fingerprint, normaliseForFingerprint, sameWordsForm } from '../../../src/text/clean.ts';

describe('findUnstorable', () => {
  it('names a NUL', () => {
    expect(findUnstorable('a\u0000b')).to.equal('nul');
  });

  it('names either half of a surrogate pair', () => {
    expect(findUnstorable('a\ud83d')).to.equal('lone_surrogate');
    expect(findUnstorable('\ude00a')).to.equal('lone_surrogate');
  });

  it('accepts everything else, whole pairs and control characters too', () => {
    for (const text of ['', '我喜欢喝茶', '👍', 'a\u0001\u200b\ufffe']) expect(findUnstorable(text)).to.equal(null);
  });
});

describe('fingerprint', () => {
  const same: [string, string][] = [
    ['I like tea.', 'i  like\ttea'],
    ['我喜欢喝茶。', '我喜欢喝茶'],
    ['ＰＯＲＴ　５４３２', 'port 5432'],
    ['“Tea is good!”', 'Tea is good'],
    [' \n hello… ', 'hello'],
  ];
  for (const [a, b] of same) {
    it(`is the same for ${JSON.stringify(a)} and ${JSON.stringify(b)}`, () => {
      expect(fingerprint(a)).to.equal(fingerprint(b));
    });
  }

  const different: [string, string][] = [
    ['port 5432', 'port 5433'],
    ['I like tea', 'I do not like tea'],
    ['I love C++', 'I love C'],
    ['-5', '5'],
    ['the rate is 5%', 'the rate is 5'],
    ['10²', '102'],
    ['call f()', 'call f'],
    ['.env', 'env'],
    ['...', '!'],
    ['', '.'],
    ['我喜欢茶', '我喜欢酒'],
    ['Kim is vegan?', 'Kim is vegan.'],
    ['the id is dQw4w9WgXcQ', 'the id is dqw4w9wgxcq'],
  ];
  for (const [a, b] of different) {
    it(`differs for ${JSON.stringify(a)} and ${JSON.stringify(b)}`, () => {
      expect(fingerprint(a)).to.not.equal(fingerprint(b));
    });
  }

  it('equals none of the older form, which knew no case of codes', () => {
    for (const text of ['tea', 'the id is dqw4w9wgxcq', 'Kim is vegan'])
      expect(fingerprint(text)).to.not.equal(createHash('sha256').update(normaliseForFingerprint(text)).digest('base64url'));
  });

  it('is 43 characters of base64url', () => {
    expect(fingerprint('tea')).to.match(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe('normaliseForFingerprint', () => {
  it('is idempotent and never throws, for any string', () => {
    const marks = fc.array(fc.constantFrom('"', '“', '”', '.', '。', ' ', 'a', '²', "'", '\u0301', 'Σ', '\n', 'B', '7', '?'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          marks.map((all) => all.join('')),
        ),
        (text) => {
          const once = normaliseForFingerprint(text);
          expect(normaliseForFingerprint(once)).to.equal(once);
          expect(sameWordsForm(sameWordsForm(text))).to.equal(sameWordsForm(text));
        },
      ),
      { numRuns: 500 },
    );
  });
});
