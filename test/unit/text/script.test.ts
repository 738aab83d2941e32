import { expect } from 'chai';
import { hasHan, hasLatinWord, language } from '../../../src/text/script.ts';

describe('language', () => {
  const cases: [string, ReturnType<typeof language>][] = [
    ['我喜欢喝茶', 'zh'],
    ['我昨天和 Bob 一起去北京吃了烤鸭', 'zh'],
    ['I like tea', 'en'],
    ['The character 龙 means dragon in English', 'en'],
    ['Où est la bibliothèque', 'en'],
    ['我用VPN', 'mixed'],
    ['Привет, как дела', 'other'],
    ['ありがとうございます', 'other'],
    ['안녕하세요', 'other'],
    ['12345 !!', 'other'],
    ['', 'other'],
  ];
  for (const [text, expected] of cases) {
    it(`calls "${text}" ${expected}`, () => {
      expect(language(text)).to.equal(expected);
    });
  }
});

describe('the scripts of a text', () => {
  it('sees Han anywhere, outside the basic plane too', () => {
    expect(hasHan('the 龙')).to.equal(true);
    expect(hasHan('𠮷')).to.equal(true);
    expect(hasHan('カナ tea')).to.equal(false);
  });

  it('sees a Latin word from two letters on', () => {
    expect(hasLatinWord('我的VPN')).to.equal(true);
    expect(hasLatinWord('né')).to.equal(true);
    expect(hasLatinWord('T恤 5 мир')).to.equal(false);
  });
});
