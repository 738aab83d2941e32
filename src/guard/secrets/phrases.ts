/** Secrets that are made of plain words or stand in cells: wallets' recovery phrases, passwords of several words, tables of names and values, numbers glued to their name. */
import type { Finding } from './finding.ts';

const RECOVERY = /seed[ _-]?phrase|recovery[ _-]?(?:phrase|words)|mnemonic|助记词|助記詞|恢复词/gi;
/** Words of the list are of 3 to 8 letters (BIP-39); 12 to 24 of them, numbered or not. */
const RECOVERY_WORDS =
  /[^\n|]{0,40}?[\s:：="'“|]((?:\d{1,2}[.)]\s?)?[a-z]{3,8}(?:[\s,，、]{1,3}(?:\d{1,2}[.)]\s?)?[a-z]{3,8}){11,23})(?![A-Za-z'’])/y;
/** Short words of any prose that are not in the list. */
const PROSE =
  /\b(?:the|and|for|are|was|were|you|your|not|has|have|had|but|his|its|our|they|them|been|which|from|when|should|would|could|must|because|who|how|does|did|ever|never)\b/;

const SAID =
  /(?:pass(?:word|phrase)|密码|密碼|口令)(?:\s(?:for|of|to)\s[^\n.,;:，。]{1,32}?)?(?:\s{0,2}[:：]\s{0,2}|\s(?:is|was)(?:\snow)?\s{1,2}|\s{0,2}是\s{0,2})["'“]?([a-z]{3,12}(?:[ -][a-z]{3,12}){2,7})(?=["'”]?\s{0,2}(?:[.,;!。，；！)]|$|\n))/g;
/** What prose says of a password: how it is, and what is done to it. */
const ABOUT =
  /^(?:\w+(?:ed|en|ing|ble|ly|ous|ive|less)|not|also|still|now|always|never|same|kept|sent|set|wrong|weak|strong|too|very|quite|pretty|rather|long|short|case|safe|valid|empty|blank|only|just|more|less|what|where|whatever|something|someone|at|on|in|my|your|all|any|one|two|for|from|with|hard|easy|good|bad|gone|lost|secret|private|public|unique|different)\b/;

/** | database password | value | */
const CELL =
  /\|\s{0,8}(?=[^|\n]{0,48}(?:pass(?:word|wd|phrase|code)|\bpwd\b|密码|密碼|口令|secret|token|api[ _-]?key|access[ _-]?key|密钥|令牌))[^|\n]{1,48}\|\s{0,8}[`"']?([!-{}~]{6,128}?)[`"']?\s{0,8}(?=\|)/gi;
const KEY_CELL = /secret|token|key|密钥|令牌/i;
const MOBILE = /(?:tel|phone|mobile|cell|mob|手机|电话|手機|電話)[号號]?[_-]?(1[3-9]\d{9})(?!\d)/gi;

export function* phrases(text: string): Iterable<Finding> {
  for (const { 0: name, index } of text.matchAll(RECOVERY)) {
    RECOVERY_WORDS.lastIndex = index + name.length;
    const words = RECOVERY_WORDS.exec(text)?.[1];
    if (words !== undefined && !PROSE.test(words))
      yield found(RECOVERY_WORDS.lastIndex - words.length, words, 'private_key', 'recovery-phrase');
  }
  for (const match of text.matchAll(SAID)) {
    const words = match[1] ?? '';
    if (!ABOUT.test(words) && !PROSE.test(words))
      yield found(match.index + match[0].length - words.length, words, 'password', 'word-password');
  }
  for (const match of text.matchAll(CELL)) {
    const value = match[1] ?? '';
    const isValue = /\d/.test(value) && /[A-Za-z]/.test(value) && !/^(?:https?:|\[masked:|<|\$\{)/.test(value);
    if (!isValue) continue;
    const kind = KEY_CELL.test(match[0].slice(0, match[0].lastIndexOf(value))) ? 'api_key' : 'password';
    yield found(match.index + match[0].lastIndexOf(value), value, kind, 'table-cell');
  }
  for (const match of text.matchAll(MOBILE)) yield found(match.index + match[0].length - 11, match[1] ?? '', 'phone', 'glued-mobile');
}

function found(start: number, value: string, kind: Finding['kind'], detector: string): Finding {
  return { start, end: start + value.length, kind, detector };
}
