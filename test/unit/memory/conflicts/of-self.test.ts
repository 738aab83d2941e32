/** The short look that spares most texts a whole reading: it must never miss one that speaks of its writer. */
import { join } from 'node:path';
import { expect } from 'chai';
import { readPairs } from '../../../../bench/pairs/score.ts';
import { claimOf } from '../../../../src/memory/conflicts/claims.ts';
import { CHINESE_FRAMES } from '../../../../src/memory/conflicts/frames/chinese.ts';
import { ENGLISH_FRAMES } from '../../../../src/memory/conflicts/frames/english.ts';
import { SELF } from '../../../../src/memory/conflicts/frames/frame.ts';
import { frameOf } from '../../../../src/memory/conflicts/frames/read-frame.ts';
import { mayBeOfSelf, read } from '../../../../src/memory/conflicts/reading.ts';
import { loadRelationPolicy } from '../../../../src/memory/conflicts/relation-policy.ts';
import { speaksOfSelf } from '../../../../src/memory/conflicts/relation.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const policy = loadRelationPolicy(join(ROOT, 'policies'));
const SUBJECTS = [undefined, 'Kim', '小李', 'user', '我'];

/** What the whole reading says of the text as one sentence. */
function isOfSelf(content: string, subject: string | undefined): boolean {
  const reading = read({ content, subject }, policy);
  const frame = frameOf(claimOf(policy.unify(reading.plain)), { subject, policy });
  return reading.subject === SELF || frame?.subject === SELF;
}

describe('whether a text speaks of its writer', () => {
  const texts = [
    ...[...ENGLISH_FRAMES, ...CHINESE_FRAMES].flatMap(({ examples }) => examples),
    ...readPairs(join(ROOT, 'test', 'pairs')).flatMap(({ older, newer }) => [older.content, newer.content]),
  ];

  it('is never denied without reading a text that does', () => {
    let self = 0;
    for (const content of texts)
      for (const subject of SUBJECTS) {
        if (!isOfSelf(content, subject)) continue;
        self += 1;
        expect(mayBeOfSelf({ content, subject }, policy), `${content} (${subject ?? 'no subject'})`).to.equal(true);
      }
    expect(self).to.be.greaterThan(100);
  });

  it('is denied at once for most of the others', () => {
    const others = texts.filter((content) => !isOfSelf(content, undefined));
    const spared = others.filter((content) => !mayBeOfSelf({ content }, policy));
    expect(spared.length).to.be.greaterThan(others.length / 2);
  });

  for (const [content, expected] of [
    ['I live in Rome', true],
    ['Ｉ live in Rome', true],
    ['My\u200b cat is called Momo', true],
    ['Always answer in French', true],
    ['请用中文回复', true],
    ['用户住在上海', true],
    ['Ana lives in Rome', false],
    ['小李住在上海', false],
    ['Ana told me that the office moved', false],
  ] as const)
    it(`is ${expected ? 'yes' : 'no'} for "${content}"`, () => {
      expect(speaksOfSelf({ content }, policy)).to.equal(expected);
    });
});
