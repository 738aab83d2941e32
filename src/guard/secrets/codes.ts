/** One-time codes: four to eight digits (or letters and digits) beside a word for them, before or after. */
import type { Finding } from './finding.ts';

const WORD =
  /验证码|驗證碼|校验码|校驗碼|动态码|動態碼|动态密码|动态口令|一次性密码|一次性口令|短信码|确认码|取件码|提货码|登录码|(?:verification|security|confirmation|one[- ]?time|login|sign[- ]?in|auth(?:entication|orization)?|access|2fa|mfa|two[- ]factor|sms|activation|recovery|backup|otp)[ -]{1,2}(?:pass)?(?:code|password|pin|number)s?|\b(?:otp|totp|2fa|mfa)\b(?:\s(?:code|token))?|passcode/giu;
const ANY = /码|碼|口令|code|otp|2fa|mfa|passw|pin/iu;
const BEFORE =
  /\s{0,2}(?:[（(][^）)\n]{0,12}[）)])?\s{0,2}(?:(?:[^\d\n，。；,.;]{0,24}?)(?:是|为|為|[:：=]|\bis\b|\bare\b|\bto\b))?\s{0,3}["'“「【\[(（]?/y;
const CODE = /(?:[A-Z]-)?(?:\d{3}[ -]\d{3}|\d{4,8}|(?=[A-Z]{0,7}\d)[A-Z0-9]{6,8})(?![A-Za-z0-9_]|[.:-]\d)/y;
const UNIT = /^\s{0,2}(?:分钟|分鐘|秒|小时|天|次|位|个|元|年|minutes?|seconds?|hours?|days?|digits?|times|characters|字符)/i;
const AFTER =
  /(?<![A-Za-z0-9.#_-])((?:[A-Z]-)?(?:\d{4,8}|\d{3}[ -]\d{3}))\s{0,2}(?:(?:是|为|為)?[^\n，。；\d]{0,12}(?:验证码|驗證碼|校验码|动态码|确认码)|[（(][^）)\n\d]{0,12}(?:验证码|校验码|动态码|code)[）)]|(?:is|as)\s(?:your|the|my)\s[^\n.;\d]{0,40}?(?:code|otp|passcode|pin)\b)/giu;

export function* oneTimeCodes(text: string): Iterable<Finding> {
  if (!ANY.test(text)) return;
  const found = (start: number, code: string): Finding => ({ start, end: start + code.length, kind: 'otp', detector: 'one-time-code' });
  for (const match of text.matchAll(WORD)) {
    BEFORE.lastIndex = match.index + match[0].length;
    const link = BEFORE.exec(text)?.[0] ?? '';
    CODE.lastIndex = match.index + match[0].length + link.length;
    const code = CODE.exec(text)?.[0];
    if (code === undefined || UNIT.test(text.slice(CODE.lastIndex, CODE.lastIndex + 12))) continue;
    yield found(CODE.lastIndex - code.length, code);
  }
  for (const match of text.matchAll(AFTER)) yield found(match.index, match[1] ?? '');
}
