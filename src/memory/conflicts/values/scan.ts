/** Cuts a plain text into tokens: values by their rules, words of any script, single Han characters, signs that matter. */
import { AMOUNT_RULES } from './amounts.ts';
import { DATE_RULES } from './dates.ts';
import { hasOwnCase } from '../../../text/case.ts';
import { pausesAround, signAt } from './signs.ts';
import type { Token, ValueRule } from './token.ts';

const WORD = /(?:(?!\p{Script=Han})[\p{L}\p{M}_])(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_]|['-](?=(?!\p{Script=Han})\p{L}))*/uy;
const MAY_BE_VALUE = /[\p{N}a-zA-Z$€£¥+\-#(周星礼后明今昨凌清早上中下傍晚百第零〇一二两三四五六七八九十千万]/u;

const NOT_WORDS = new Set('not no never none neither nor without cannot nothing nobody hardly'.split(' '));
const DEGREE_WORDS = new Set(
  (
    'may might can could must should shall would will need needs ought maybe perhaps probably possibly usually often sometimes rarely always ' +
    'seldom all every each some any most few many several both only least almost nearly about approximately roughly more less over under'
  ).split(' '),
);
const FUNCTION_WORDS = new Set('us it who or in am is as at all can may for are he do no so me'.split(' '));
const HAN_NOT =
  /不(?!过|同|错|仅|但|断|久|管|少|论|如|然|得不)|没(?!收)|别(?!人|墅|名|的|致|处|针)|勿|未(?!来|婚)|无(?!论|锡|线|人机)|莫(?!斯)|并非/uy;
const NOT_BEFORE = /[特个级分区性告差识]$/u;
const HAN_DEGREE =
  /必须|务必|一定要?|应该|应当|可以|可能|也许|或许|大概|不得|禁止|需要|允许|最好|尽量|至少|至多|最多|不超过|所有|全部|每(?!年|月|天|日|周|星期|个?小时|分钟)|一些|多数|大约|左右|总是|有时|经常|偶尔|很少/uy;

/** Tokens in text order; `plain` is a plain text (relation-text). Linear in the text. */
export function scan(plain: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < plain.length;) {
    const found = valueAt(plain, at) ?? hanWordAt(plain, at) ?? wordAt(plain, at);
    if (found !== undefined) {
      tokens.push(...(found.type === 'not' ? pausesAround(plain, found) : [found]));
      at = found.end;
      continue;
    }
    const char = String.fromCodePoint(plain.codePointAt(at) ?? 0);
    const end = at + char.length;
    if (/\p{L}|\p{N}/u.test(char)) tokens.push({ type: 'han', text: char, start: at, end, capital: false });
    else {
      const sign = signAt(plain, at);
      if (sign !== undefined) tokens.push(sign);
    }
    at = end;
  }
  return tokens;
}

const RULES: readonly ValueRule[] = [...AMOUNT_RULES.slice(0, 2), ...DATE_RULES, ...AMOUNT_RULES.slice(2)];

function valueAt(plain: string, at: number): Token | undefined {
  if (!MAY_BE_VALUE.test(plain.charAt(at))) return undefined;
  for (const { type, pattern, read } of RULES) {
    pattern.lastIndex = at;
    const found = pattern.exec(plain);
    if (found === null || found[0] === '') continue;
    const [whole] = found;
    const text = read(found.groups ?? {}, whole);
    if (text !== undefined) return { type, text, start: at, end: at + whole.length, capital: type === 'code' && /\p{Lu}/u.test(whole) };
  }
  return undefined;
}

function hanWordAt(plain: string, at: number): Token | undefined {
  HAN_DEGREE.lastIndex = at;
  const degree = HAN_DEGREE.exec(plain);
  if (degree !== null) return { type: 'degree', text: degree[0], start: at, end: at + degree[0].length, capital: false };
  HAN_NOT.lastIndex = at;
  const not = HAN_NOT.exec(plain);
  if (not === null || NOT_BEFORE.test(plain.slice(Math.max(0, at - 1), at))) return undefined;
  return { type: 'not', text: not[0], start: at, end: at + not[0].length, capital: false };
}

function wordAt(plain: string, at: number): Token | undefined {
  WORD.lastIndex = at;
  const found = WORD.exec(plain);
  if (found === null) return undefined;
  const [whole] = found;
  const lower = whole.toLowerCase();
  // the US and us, the WHO and who
  const isAbbreviation = FUNCTION_WORDS.has(lower) && whole.length > 1 && whole === whole.toUpperCase();
  const text = isAbbreviation || hasOwnCase(whole) ? whole : lower;
  const type = NOT_WORDS.has(text) ? 'not' : DEGREE_WORDS.has(text) && (lower === whole || at === 0) ? 'degree' : 'word';
  return { type, text, start: at, end: at + whole.length, capital: whole !== lower };
}
