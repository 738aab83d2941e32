/** Does a question ask what holds now, and by which words: of a fact that changed it wants the newest. Pure. */
import { stem } from '../text/analyze.ts';
import { wordsOf } from './words.ts';

const PAST: readonly RegExp[] = [
  /\b(?:did|was|were|had|ha(?:s|ve) (?:\w+ )?\w+(?:ed|en)|used to|before|ago|yesterday|earlier|previous(?:ly)?|former(?:ly)?|first|original(?:ly)?|last|ever)\b/i,
  // a date, or what has one
  /\b(?:when|history|years?|months?|(?:19|20)\d\d)\b|\d{4}年|[上去前][次周月年个]|昨/i,
  /曾|以前|之前|原[来先]|过去|当时|那时|最初|第一次|历史|变化/,
  // what has come to an end: 去了哪, 吃过什么
  /[了过](?:[吗么吧没哪谁几]|什么|多少)/,
];
/** What a question is made of beside what it asks about. */
const ENGLISH = 'now current currently which what where who whose how much many often kind type name s';
const CHINESE = '什 么 哪 里 谁 几 多 少 吗 呢 怎 样 现 在 是 的 了 个 目 前';
const ASKING = new Set([...ENGLISH.split(' ').map(stem), ...CHINESE.split(' ')]);

/** Stems and Han characters of what is asked about, of each wording; none where something that was is asked for. */
export function holdsNow(texts: readonly string[]): readonly ReadonlySet<string>[] {
  if (texts.some((text) => PAST.some((pattern) => pattern.test(text)))) return [];
  return texts.map((text) => new Set([...wordsOf(text)].filter((word) => !ASKING.has(word))));
}
