/** Secrets of plain words, in cells of tables and glued to their names, each beside what looks like them and is none. */
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSecretFinder } from '../../../../src/guard/secrets/policy.ts';

const find = loadSecretFinder(join(import.meta.dirname, '..', '..', '..', '..', 'policies', 'guard'));
const found = (text: string): readonly string[] => find(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

const WORDS = 'orbit velvet tunnel garlic mimic ladder frost puzzle anchor violin custom harbor';

describe('secrets of plain words', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [`Seed phrase: ${WORDS}`, [`private_key ${WORDS}`]],
    [`我的助记词：${WORDS}，别丢了`, [`private_key ${WORDS}`]],
    [`the recovery phrase of the wallet is "${WORDS} ${WORDS}"`, [`private_key ${WORDS} ${WORDS}`]],
    ['My password is correct horse battery.', ['password correct horse battery']],
    ['密码是 correct horse battery staple', ['password correct horse battery staple']],
    ['| db password | Tr0ub4dor | prod |', ['password Tr0ub4dor']],
    ['| 项目 | 值 |\n| --- | --- |\n| 访问密钥 | a8f3kd93kd |', ['api_key a8f3kd93kd']],
    ['tel13800138000abc', ['phone 13800138000']],
    ['手机号13800138000ok', ['phone 13800138000']],
  ];
  for (const [text, expected] of rows) it(`finds ${text.slice(0, 40)}`, () => expect(found(text)).to.deep.equal(expected));

  it('leaves what only speaks of them, and other tables and numbers', () => {
    for (const text of [
      'A seed phrase must never be shared, since whoever knows those words can take all coins out of your wallet.',
      '助记词一共十二个单词，抄在纸上',
      `The vocabulary list: ${WORDS}`,
      'My password is not working today.',
      'The password is stored somewhere safe.',
      'The password is pretty long already.',
      '密码是 required for each account',
      '| password | description |\n| --- | --- |\n| login password | required |',
      '| token count | 12,400 |',
      'order8613800138000x',
      'hotel1380013',
    ])
      expect(found(text), text).to.deep.equal([]);
  });
});
