/** Passwords of Chinese words alone, each beside what people say about passwords. */
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSecretFinder } from '../../../../src/guard/secrets/policy.ts';

const find = loadSecretFinder(join(import.meta.dirname, '..', '..', '..', '..', 'policies', 'guard'));
const found = (text: string): readonly string[] => find(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

describe('passwords of Chinese words alone', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['口令是春眠不觉晓', '春眠不觉晓'],
    ['密码：春眠不觉晓', '春眠不觉晓'],
    ['保险箱的密码是“芝麻开门”，别告诉别人', '芝麻开门'],
    ['口令：天王盖地虎，宝塔镇河妖。', '天王盖地虎，宝塔镇河妖'],
    ['门口的口令改成了春眠不觉晓，处处闻啼鸟，明天起用', '春眠不觉晓，处处闻啼鸟'],
    ['备份口令现在是：床前明月光', '床前明月光'],
    ['密碼是月落烏啼霜滿天', '月落烏啼霜滿天'],
    ['密码=飞流直下三千尺\n用户名：alice', '飞流直下三千尺'],
  ];
  for (const [text, value] of rows)
    it(`masks ${text.split('\n')[0] ?? ''}`, () => expect(found(text)).to.deep.equal([`password ${value}`]));

  it('leaves what is said about passwords as it is', () => {
    for (const text of [
      '密码忘了',
      '棚子的暗号：青风筝码头。',
      '密码很重要',
      '口令是什么',
      '密码是什么？我记不得了',
      '密码是多少来着',
      '密码是我妈的生日',
      '密码为系统默认',
      '密码：必填',
      '密码：长期有效',
      '密码：单独发送',
      '密码：问运维要',
      '密码是在后台设置的',
      '口令是为了防止误操作',
      '密码是一种身份验证方式',
      '密码：至少八位字符',
      '密码改成随机生成',
      '密码不是春眠不觉晓那样能背下来的东西',
      '他喜欢的诗是春眠不觉晓',
      '密码学的课：春眠不觉晓',
      '密码是每季度更换一次，请注意',
    ])
      expect(found(text), text).to.deep.equal([]);
  });
});
