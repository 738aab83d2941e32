/** Numbers that belong to a person: resident identity numbers, bank cards, mobiles and landlines of China, other phones by libphonenumber. */
import { isCardNumber, isOldResidentId, isResidentBody, isResidentId } from './checksums.ts';
import { choose, digitRuns, type Candidate, type DigitGroup } from './digit-groups.ts';
import type { Finding, SecretKind } from './finding.ts';
import { internationalPhone, nationalPhone, PHONE_WORDS } from './phones.ts';

/** Names of numbers that belong to nobody, directly before. */
const OTHER_NUMBER =
  /(?:订单|訂單|单号|單號|单据|编号|編號|编码|流水|序列|快递|运单|快照|条码|条形码|发票|批次|时间戳|工号|学号|货号|型号|版本|端口|金额|人口|面积|税额|余额|order|invoice|tracking|shipment|receipt|reference|ref|ticket|case|issue|build|batch|serial|sku|isbn|issn|ean|upc|gtin|imei|imsi|timestamp|epoch|version|snowflake|(?:_|\b)id|uid|pid|port|total|amount|hash|size|bytes|offset|seq|pi)(?:号码?|號碼?|码|数)?\s{0,2}(?:no\.?|num(?:ber)?)?(?:是|为)?\s{0,2}[:：#=(（]?\s{0,2}["']?$/i;
const ID_WORDS = /身份证|身分證|证件|證件|居民证|id\s?(?:card|number|no)|identity|national id/i;
const CARD_WORDS = /卡号|卡號|银行卡|信用卡|储蓄卡|借记卡|工资卡|\bcard\b|\bpan\b|visa|master|amex|unionpay|银联/i;
const REACH = 24;
/** Phones of other countries are written in no more groups than this. */
const MAX_PHONE_GROUPS = 8;

/** China's mobile ranges (MIIT): 13x to 19x, with their country code or without. */
const MOBILE = /^(?:0?086|86)?(1[3-9]\d{9})$/;
/** Area codes of two digits (010, 02x) take eight digits, those of three seven or eight. */
const LANDLINE = /^0(?:10|2\d)[2-8]\d{7}$|^0[3-9]\d\d[2-8]\d{6,7}$/;

export function* personalNumbers(text: string): Iterable<Finding> {
  for (const groups of digitRuns(text)) {
    const found: Finding[] = [];
    const runStart = groups[0]?.start ?? 0;
    // deep inside a run no word can stand before the number, so that only a bracket or 00 makes a phone of another country of it
    const isNamed = ({ start }: DigitGroup): boolean => start - runStart <= REACH || /[(（]/.test(text.charAt(start - 1));
    const worth = (digits: string, count: number, first: DigitGroup): boolean => isWorth(digits, count, () => isNamed(first));
    choose(text, groups, worth, (candidate) => {
      const kind = kindOf(text, candidate);
      if (kind === undefined) return false;
      const start = leadIn(text, candidate.start, kind);
      found.push({ start, end: candidate.end, kind, detector: kind === 'phone' ? 'phone' : kind });
      return true;
    });
    yield* found;
  }
}

/** What the digits alone allow: an identity number, a card, a phone of China, or a length that phones of other countries have. */
function isWorth(digits: string, groups: number, isNamed: () => boolean): boolean {
  if (digits.length === 18 && isResidentBody(digits)) return true;
  if (/[Xx]/.test(digits)) return false;
  if (MOBILE.test(digits) || isCardNumber(digits) || LANDLINE.test(digits)) return true;
  if (groups > MAX_PHONE_GROUPS) return false;
  if (digits.length <= 13) return digits.startsWith('00') || isNamed();
  return digits.length <= 15 && (digits.startsWith('00') || (digits.length === 15 && isOldResidentId(digits)));
}

function kindOf(text: string, candidate: Candidate): SecretKind | undefined {
  const { start, end, digits, groups } = candidate;
  if (/[A-Za-z0-9_]/.test(text.charAt(end)) || /[A-Za-z0-9_]$/.test(text.slice(Math.max(0, start - 1), start))) {
    if (
      !/(?:tel|phone|mob|cell|fax|card|id|hone|no)$/i.test(text.slice(Math.max(0, start - 8), start)) ||
      /[A-Za-z0-9_]/.test(text.charAt(end))
    )
      return undefined;
  }
  const before = text.slice(Math.max(0, start - REACH), start);
  if (digits.length === 18 && isPlain(groups) && isResidentId(digits)) return 'cn_id';
  if (digits.length === 18 && ID_WORDS.test(before) && isResidentBody(digits)) return 'cn_id';
  if (/[Xx]/.test(digits)) return undefined;
  if (digits.length === 15 && ID_WORDS.test(before) && isOldResidentId(digits)) return 'cn_id';
  const other = OTHER_NUMBER.test(before);
  if (digits.length >= 13 && isCardNumber(digits) && !isDecimal(text, candidate)) {
    const named = CARD_WORDS.test(before);
    if (named || (!other && digits.length >= 15)) return 'bank_card';
  }
  if (other && !PHONE_WORDS.test(before)) return undefined;
  return isPhone(text, candidate, before) ? 'phone' : undefined;
}

function isPhone(text: string, candidate: Candidate, before: string): boolean {
  const { digits, groups, start } = candidate;
  if (isDated(groups)) return false;
  if (/[+＋]\s?\(?$/.test(before) || /(?:^|[^\d])00\s?$/.test(before))
    return digits.length >= 8 && (MOBILE.test(digits) || internationalPhone(digits));
  const named = PHONE_WORDS.test(before);
  if (!named && isDecimal(text, candidate)) return false;
  if (MOBILE.test(digits)) return true;
  const written = text.slice(start, candidate.end);
  const split = groups.length > 1;
  if (LANDLINE.test(digits) && (named || (split && /^[(（]?0\d{2,3}[)）]?[\s-]{0,2}\d{3,8}/.test(written)))) return true;
  if (digits.startsWith('00') && split) return internationalPhone(digits.slice(2));
  if (digits.length < 9 || digits.length > 12) return false;
  const bracketed = /[(（]$/.test(before) && /^\d{3}\)/.test(written);
  return (named || bracketed) && !/^400|^800/.test(digits) && nationalPhone(digits);
}

/** Identity numbers come in the groups of their parts, or all alike: an order number beside a date is none. */
function isPlain(groups: readonly { readonly digits: string }[]): boolean {
  return groups.length <= 5 || groups.every(({ digits }) => digits.length <= 2);
}

/** Part of a decimal, an address or a version: dots between, or one directly before or behind. */
function isDecimal(text: string, { start, end, groups }: Candidate): boolean {
  if (/\d\.$/.test(text.slice(Math.max(0, start - 2), start)) || /^\.\d/.test(text.slice(end, end + 2))) return true;
  const dots = text.slice(start, end).match(/\./g)?.length ?? 0;
  return dots > 0 && (groups.length !== 3 || dots !== 2);
}

/** 2026-11-30 08:15, 20261130-0815. */
function isDated(groups: readonly { readonly digits: string }[]): boolean {
  const [year, month, day] = groups;
  if (year === undefined || month === undefined) return false;
  return /^(?:19|20)\d\d$/.test(year.digits) && /^(?:0?[1-9]|1[0-2])$/.test(month.digits) && (day === undefined || day.digits.length <= 2);
}

/** The plus, bracket or country code that belongs to a phone. */
function leadIn(text: string, start: number, kind: SecretKind): number {
  if (kind !== 'phone') return start;
  const lead = /(?:[+＋]\s?)?[(（]?$/.exec(text.slice(Math.max(0, start - 3), start))?.[0] ?? '';
  return lead.includes('（') && !text.slice(start, start + 8).includes('）') ? start : start - lead.length;
}
