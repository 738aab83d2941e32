/** Finds secrets and personal data in a text: a cheap look first, then every detector over every reading; overlaps become one finding. */
import { connectionStrings } from './connections.ts';
import { oneTimeCodes } from './codes.ts';
import { documents } from './documents.ts';
import { emails } from './emails.ts';
import { closedUp, decodedRuns, unescaped } from './encoded.ts';
import { SECRET_KINDS, type Detector, type Finding } from './finding.ts';
import { folded } from './folded.ts';
import { jsonWebTokens, privateKeys } from './keys.ts';
import { personalNumbers } from './numbers.ts';
import { passwords } from './passwords.ts';
import { phrases } from './phrases.ts';
import { tokenDetector, type SecretsPolicy } from './table.ts';
import { originalRange, type View } from './view.ts';
import { verses } from './verses.ts';

/** Findings in a text, in order, none overlapping. Pure: no clock, no keys, no store. */
export type FindSecrets = (text: string) => readonly Finding[];

const NONE: readonly Finding[] = [];
/** How deep encodings are opened, and how much of them in all. */
const MAX_DEPTH = 2;
const MAX_DECODED_CHARS = 64 * 1024;

/**
 * One look at the text: something every finding needs. Digits in any writing, an @, a run as long as keys are, characters that disguise,
 * a word that names a secret, a plate's first two characters.
 */
const ANYTHING = new RegExp(
  [
    String.raw`[@＠\u00ad\u034f\u061c\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u2460-\u24ff\ud835\udb40Ѐ-ӿ\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59]`,
    String.raw`\d(?:[^A-Za-z\u00c0-\u024f\u3400-\u9fff\n]{0,3}\d){5}`,
    String.raw`(?<![A-Za-z0-9+/_=.~-])[A-Za-z0-9+/_=.~-]{16}`,
    String.raw`%[0-9A-Fa-f]{2}|\\[ux][0-9A-Fa-f]|&#|://`,
    String.raw`[零〇一二三四五六七八九幺壹贰叁肆伍陆柒捌玖](?:[ 、，-]?[零〇一二三四五六七八九幺壹贰叁肆伍陆柒捌玖两\d]){6}`,
    String.raw`(?:[A-Za-z0-9_][ \u00a0\u3000·•|,-]{1,2}){5}`,
    String.raw`[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使领][A-Z]`,
    String.raw`[Pp][Aa][Ss]{2}|PASS|[Pp][Ss]?[Ww][Dd]?\b|PS?WD?\b|[Pp][Ii][Nn]|[Cc][Oo][Dd][Ee]|[Tt]oken|TOKEN|[Ss]ecret|SECRET|[Kk]ey\b|KEY|OTP|otp\b|[Cc][Vv][CcVv]|[Ll]ogin|[Cc]red|[Bb]earer|[Aa]uth|senha|contrase|jeton|контра|пароль|[Kk]enn|[Pp]late|SSN|ssn|[Aa]t\)|\bdot\b|at\]|mysql|[Ss]eed[ _-]?[Pp]hrase|[Rr]ecovery|[Mm]nemonic`,
    String.raw`密码|密碼|口令|暗[号號]|通行码|密[语語]|[开门锁屏柜箱解注册]码|密钥|密鑰|秘钥|私钥|令牌|凭据|凭证|授权码|激活码|验证|驗證|校验|动态码|确认码|取件码|门禁|护照|護照|通行证|通行證|安全码|账密|艾特|助记词|助記詞|恢复词`,
  ].join('|'),
);

/** Detectors that look at all text, and those for what only stands in the clear. */
const DETECTORS: readonly Detector[] = [
  privateKeys,
  jsonWebTokens,
  connectionStrings,
  passwords,
  oneTimeCodes,
  personalNumbers,
  emails,
  documents,
  phrases,
  verses,
];

/** The finder over one table of tokens. */
export function createFinder(policy: SecretsPolicy): FindSecrets {
  const detectors: readonly Detector[] = [tokenDetector(policy), ...DETECTORS];
  const scan = (view: View, into: Finding[]): void => {
    for (const detect of detectors)
      for (const finding of detect(view.text)) {
        const range = originalRange(view, finding.start, finding.end);
        if (range.end > range.start) into.push({ ...finding, ...range });
      }
  };
  return (text) => {
    if (!ANYTHING.test(text)) return NONE;
    const found: Finding[] = [];
    let budget = MAX_DECODED_CHARS;
    const read = (view: View, depth: number): void => {
      scan(view, found);
      for (const closed of closedUp(view)) scan(closed, found);
      if (depth >= MAX_DEPTH) return;
      const plain = unescaped(view);
      if (plain !== undefined) read(plain, depth + 1);
      for (const run of decodedRuns(view)) {
        budget -= run.text.length;
        if (budget < 0) return;
        if (ANYTHING.test(run.text)) read(run, depth + 1);
      }
    };
    read(folded(text), 0);
    return found.length === 0 ? NONE : merged(withoutMarks(text, found));
  };
}

/** Marks of an earlier masking are no secrets. */
const MARK = /\[masked:[a-z_]{3,24}(?: \.\.[^\]\s]{1,4})?\]/g;

function withoutMarks(text: string, found: readonly Finding[]): readonly Finding[] {
  if (!text.includes('[masked:')) return found;
  const marks = [...text.matchAll(MARK)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
  return found.filter((finding) => !marks.some((mark) => finding.start < mark.end && mark.start < finding.end));
}

/** In order; what overlaps is one finding of the gravest kind. */
function merged(found: readonly Finding[]): readonly Finding[] {
  const result: Finding[] = [];
  for (const next of [...found].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || next.start >= last.end) {
      result.push(next);
      continue;
    }
    const graver = SECRET_KINDS.indexOf(next.kind) < SECRET_KINDS.indexOf(last.kind) ? next : last;
    result[result.length - 1] = { ...graver, start: last.start, end: Math.max(last.end, next.end) };
  }
  return result;
}
