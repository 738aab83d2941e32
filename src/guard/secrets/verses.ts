/** Passwords and passphrases of Chinese words alone (口令是春眠不觉晓): no digit or letter gives them away, so the word before them and the end of the clause have to. */
import type { Finding } from './finding.ts';

/** Not 暗号, a watchword between people, which is told and asked for like any phrase. */
const NAME = String.raw`(?:密码|密碼|口令|密语|密語|通行码)`;
const TIE = String.raw`(?:\s{0,2}[:：=＝]\s{0,2}|\s{0,2}(?:现在|現在|目前|暂时|暫時|统一|还|就|都)?(?:是|为|為|叫|改成|改为|改為|换成|换为|換成|设成|设为|設為|设置为|设置成|变成)了?\s{0,2}[:：]?\s{0,2})`;
const SAID = new RegExp(`${NAME}${TIE}([“"'「『]?)(\\p{Script=Han}{4,16})(?=[”"'」』]?\\s{0,2}(?:[，,。.；;！!、）)\\n]|$))`, 'gu');

/** What a sentence says of a password (how it is, where it stands, what is done to it) and what asks for one; old verse and passphrases have none of it. */
const PROSE = new RegExp(
  [
    '[的了吗嗎呢吧啊很太请請已被把您这這那哪谁誰由或及需须須填]',
    '^[问問找向跟].{1,6}[要拿取]$|^[去在按从從给給让讓]',
    '什么|什麼|怎么|怎麼|怎样|如何|多少|为何|为了|因为|因為|所以|如果|但是|可以|可能|应该|應該|能够|能夠|才能|必[须須]|一[个個种種样樣项項段串直定致]|不[对對能行是要会會变變同用得少超可足详詳够夠再]|没有|沒有|无法|無法',
    '我们|我們|你们|你們|他们|他們|自己|大家|别人|别忘|不知|不记',
    '密码|密碼|口令|暗号|暗號|令牌|密钥|账号|帳號|帐号|账户|用户|用戶|系统|系統|管理|登录|登錄|登陆|身份|验证|驗證|认证|認證|校验|校驗|授权|授權|权限|權限',
    '数字|數字|字母|字符|字元|字段|大小写|组合|組合|长度|長度|位数|位數|格式|类型|類型|参数|參數|生日|名字|姓名|拼音|缩写|縮寫|手机|手機|电话|電話|号码|號碼|编号|編號|日期|学号|工号',
    '加密|解密|明文|密文|哈希|存储|存儲|保存|保管|保密|机密|机制|策略|规则|規則|要求|标准|標準|设置|設置|设定|設定|修改|更改|更换|更換|更新|重置|找回|忘记|忘記|丢失|丟失|泄露|洩露|暴露|破解|输入|輸入|显示|顯示|隐藏|隱藏|提示|生成|随机|隨機|随便|随意|默认|默認|初始|统一|統一|相同|一样|一致|正确|正確|错误|錯誤|无效|無效|有效|过期|過期|失效|到期|定期|安全|危险|复杂|複雜|简单|簡單|容易|重要|关键|關鍵|问题|問題|技术|技術|方式|方法|手段|工具|基础|基礎|概念|学科|通过|通過|使用|用于|用來|用来|同上|如下|以下|以上|下面|上面|见附|見附|参见|參見|单独|單獨|另行|另发|稍后|稍後|私聊|联系|聯繫|询问|问我|找我|公司|部门|部門|项目|項目|团队|團隊|服务|服務|数据|數據|文件|信息|訊息|功能|程序|软件|軟件|产品|產品|支持|包括|包含|属于|屬於|作为|作為|进行|進行|至少|至多|最多|最少|只有|只能|只要|只需|不限|为空|為空|长期|長期|永久|暂时|暫時|目前|现在|現在|以后|以後|每[天周月年人]|次日|测试|測試|生产|生產|环境|環境',
  ].join('|'),
  'u',
);
/** A line of classical verse; the next one of the same length belongs to it. */
const VERSE_CHARS: ReadonlySet<number> = new Set([4, 5, 7]);
const NEXT_LINE = /[，,]\s?(\p{Script=Han}{4,7})(?=[”"'」』]?\s{0,2}(?:[，,。.；;！!、）)\n]|$))/uy;

export function* verses(text: string): Iterable<Finding> {
  for (const match of text.matchAll(SAID)) {
    const line = match[2] ?? '';
    if (PROSE.test(line)) continue;
    const start = match.index + match[0].length - line.length;
    yield { start, end: verseEnd(text, start + line.length, line.length), kind: 'password', detector: 'verse-password' };
  }
}

function verseEnd(text: string, end: number, chars: number): number {
  if (!VERSE_CHARS.has(chars)) return end;
  NEXT_LINE.lastIndex = end;
  const next = NEXT_LINE.exec(text);
  if (next?.[1]?.length !== chars || PROSE.test(next[1])) return end;
  return verseEnd(text, end + next[0].length, chars);
}
