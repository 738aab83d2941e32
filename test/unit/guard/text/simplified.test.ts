import { expect } from 'chai';
import * as openCc from 'opencc-js/t2cn';
import { toSimplified } from '../../../../src/guard/text/simplified.ts';

interface Package {
  readonly Converter: (options: { from: string; to: string }) => (text: string) => string;
  readonly Locale: { readonly configs: { readonly t2s: Record<'normalizationChain' | 'conversionChain', readonly (readonly string[])[]> } };
}

const { Converter, Locale } = openCc as unknown as Package;
const convert = Converter({ from: 't', to: 'cn' });
const { normalizationChain, conversionChain } = Locale.configs.t2s;
const entries = [...normalizationChain, ...conversionChain].flat().flatMap((dictionary) => dictionary.split('|'));

describe('simplified characters', () => {
  it('are those of the whole dictionary, every word of it by itself and within a sentence', () => {
    expect(entries.length).to.be.greaterThan(4_000);
    for (const entry of entries) {
      const [word = ''] = entry.split(' ');
      for (const text of [word, `今天${word}之后`, `the ${word} of`]) expect(toSimplified(text)).to.equal(convert(text));
    }
  });

  it('leave simplified, Latin and other text as it is', () => {
    for (const text of ['把数据库迁移到新的机房，下周一之前完成。', 'plain words, 5 %', 'かな한국어é', ''])
      expect(toSimplified(text)).to.equal(text);
  });

  it('are found beyond the basic plane', () => {
    expect(toSimplified('\u{2f800}')).to.equal(convert('\u{2f800}'));
    expect(toSimplified('a\u{20c41}b')).to.equal(convert('a\u{20c41}b'));
  });
});
