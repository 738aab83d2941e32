/** Passports, permits, other countries' identity numbers, account numbers (IBAN) and licence plates. */
import { isHongKongId, isIban, isTaiwanId } from './checksums.ts';
import type { Finding, SecretKind } from './finding.ts';

/** The number within reach of its word; nothing that another number could be lies between. */
const PASSPORT =
  /(?:护照|護照|passport|reisepass|pasaporte|passeport|旅行证)[^\n。；;\d]{0,24}?(?<![A-Za-z0-9])([A-Z]{1,2}[A-Z0-9]?\d{6,8}|\d{9}|\d{2}[A-Z]{2}\d{5})(?![A-Za-z0-9])/gi;
const PERMIT =
  /(?:通行证|通行證|台胞证|回乡证|往来港澳|往来台湾|居住证|军官证|travel permit)[^\n。；;\d]{0,20}?(?<![A-Za-z0-9])([A-Z]{1,2}\d{7,10}|\d{8,10})(?![A-Za-z0-9])/gi;
/** ICAO 9303: the machine-readable zone of a passport. */
const ZONE = /(?<![A-Za-z0-9])P[A-Z<][A-Z]{3}[A-Z<]{39}\s[A-Z0-9<]{44}(?![A-Za-z0-9])/g;
/** Social security numbers of the US; areas, groups and serials that are never given out are left out. */
const SSN = /(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g;
const SSN_NAMED = /(?:ssn|social security(?: number| no\.?)?)[^\n\d]{0,12}(\d{3}[- ]?\d{2}[- ]?\d{4})(?!\d)/gi;
const HONG_KONG = /(?<![A-Za-z0-9])([A-Z]{1,2})(\d{6})[(（]([0-9A])[)）]/g;
const TAIWAN = /(?<![A-Za-z0-9])[A-Z][12]\d{8}(?![A-Za-z0-9])/g;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;
const CARD_CODE = /(?<![A-Za-z])(?:cvv2?|cvc2?|card verification code|安全码)\s{0,2}(?:is|是|为)?\s{0,2}[:：=]?\s{0,2}(\d{3,4})(?!\d)/gi;

const PROVINCE = '京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼';
/** GA 36: five characters of an ordinary plate, six of an electric car's; I and O are not used. Trailers, learners, police, Hong Kong, Macao. */
const PLATE = new RegExp(
  `(?<![A-Za-z0-9])[${PROVINCE}使领][A-HJ-NP-Z][·•・. -]?(?=[A-HJ-NP-Z0-9]{0,5}\\d)(?:[A-HJ-NP-Z0-9]{4,5}[A-HJ-NP-Z0-9]|[A-HJ-NP-Z0-9]{4}[挂学警港澳试超])(?![A-Za-z0-9])`,
  'g',
);
const PLATE_NAMED =
  /(?:licen[cs]e plate|number plate|plate (?:number|no\.?)|registration (?:number|plate)|kennzeichen)[^\n.,;\d]{0,16}?(?:is|[:=])?\s{0,2}(?<![A-Za-z0-9])((?=[A-Z0-9 -]{0,9}\d)[A-Z0-9]{1,4}[ -]?[A-Z0-9]{2,5}(?:[ -][A-Z0-9]{1,4})?)(?![A-Za-z0-9])/g;

const PASSPORT_WORDS = /护照|護照|passport|reisepass|pasaporte|passeport|旅行证/i;
const PERMIT_WORDS = /通行证|通行證|台胞证|回乡证|往来港澳|往来台湾|居住证|军官证|travel permit/i;
const PLATE_WORDS = /plate|registration|kennzeichen/i;

export function* documents(text: string): Iterable<Finding> {
  const found = (match: RegExpExecArray, value: string, kind: SecretKind, detector: string): Finding => {
    const end = match.index + match[0].lastIndexOf(value) + value.length;
    return { start: end - value.length, end, kind, detector };
  };
  if (PASSPORT_WORDS.test(text)) for (const m of text.matchAll(PASSPORT)) yield found(m, m[1] ?? '', 'passport', 'passport');
  if (PERMIT_WORDS.test(text)) for (const m of text.matchAll(PERMIT)) yield found(m, m[1] ?? '', 'passport', 'permit');
  if (text.includes('<<')) for (const m of text.matchAll(ZONE)) yield found(m, m[0], 'passport', 'passport-zone');
  for (const m of text.matchAll(PLATE)) yield found(m, m[0], 'license_plate', 'cn-plate');
  if (PLATE_WORDS.test(text)) for (const m of text.matchAll(PLATE_NAMED)) yield found(m, m[1] ?? '', 'license_plate', 'named-plate');
  for (const m of text.matchAll(CARD_CODE)) yield found(m, m[1] ?? '', 'bank_card', 'card-code');
  if (!/\d{4}/.test(text)) return;
  for (const m of text.matchAll(SSN_NAMED)) yield found(m, m[1] ?? '', 'national_id', 'ssn');
  for (const m of text.matchAll(SSN)) yield found(m, m[0], 'national_id', 'ssn');
  for (const m of text.matchAll(HONG_KONG))
    if (isHongKongId(m[1] ?? '', m[2] ?? '', m[3] ?? '')) yield found(m, m[0], 'national_id', 'hong-kong-id');
  for (const m of text.matchAll(TAIWAN)) if (isTaiwanId(m[0])) yield found(m, m[0], 'national_id', 'taiwan-id');
  for (const m of text.matchAll(IBAN)) if (isIban(m[0].replaceAll(' ', ''))) yield found(m, m[0], 'bank_card', 'iban');
}
