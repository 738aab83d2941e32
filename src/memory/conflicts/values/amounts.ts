/** Amounts: money, percentages, quantities with units, counts, ordinals, versions and codes, in one spelling each. */
import { foldCase } from '../../../text/case.ts';
import { DIGITS, ENGLISH_WORDS, HAN_NUMERALS, numberOf } from './numerals.ts';
import type { ValueRule } from './token.ts';

/** Unit in one spelling: how it is written. Units are never converted into each other: 1 h and 60 min stay two values. */
const UNITS: Readonly<Record<string, string>> = {
  km: 'km kilometers kilometres kilometer kilometre 公里 千米',
  m: 'meters metres meter metre 米',
  cm: 'cm centimeters centimetres 厘米 公分',
  mm: 'mm millimeters millimetres 毫米',
  mile: 'miles mile 英里',
  inch: 'inches inch 英寸',
  foot: 'feet foot ft 英尺',
  kg: 'kg kgs kilograms kilogram kilos kilo 公斤 千克',
  jin: '斤',
  g: 'grams gram 克',
  mg: 'mg milligrams milligram 毫克',
  lb: 'lb lbs',
  l: 'liters litres liter litre 升',
  ml: 'ml milliliters millilitres 毫升',
  h: 'hours hour hrs hr 个小时 小时 个钟头 钟头',
  min: 'minutes minute mins min 分钟',
  s: 'seconds second secs sec 秒钟 秒',
  ms: 'ms milliseconds millisecond 毫秒',
  day: 'days day 天',
  week: 'weeks week 个星期 星期 周',
  month: 'months month 个月',
  year: 'years year 年',
  'year old': '岁',
  times: 'times time 次 遍 趟',
  gb: 'gb gib gigabytes',
  mb: 'mb mib megabytes',
  tb: 'tb tib terabytes',
  kb: 'kb kib kilobytes',
  celsius: '°c ℃ 摄氏度 度',
  fahrenheit: '°f ℉ 华氏度',
  mph: 'mph',
  'km/h': 'km/h kmh kph',
};
const CURRENCIES: Readonly<Record<string, string>> = {
  usd: '$ us$ usd dollars dollar bucks 美元 美金',
  eur: '€ eur euros euro 欧元',
  gbp: '£ gbp pounds pound 英镑',
  cny: 'cny rmb yuan 人民币 元 块钱 块',
  '¥': '¥ ¥',
  jpy: 'jpy yen 日元',
  hkd: 'hk$ hkd 港币 港元',
};
const MEASURE_WORDS = '[个只条本张件位名辆台人家间杯片粒颗份门口支把头匹楼层号室倍种款套双盒瓶碗包笔项轮]';

const bySpelling = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([one, written]) => written.split(' ').map((w): [string, string] => [w, one])));
const unitBySpelling = bySpelling(UNITS);
const currencyBySpelling = bySpelling(CURRENCIES);

const literal = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&');
/** Longest first; a Latin one ends where its letters end. */
const anyOf = (spellings: Iterable<string>): string =>
  [...spellings]
    .sort((a, b) => b.length - a.length)
    .map((w) => (/[a-z]$/.test(w) ? `${literal(w)}(?![a-z])` : literal(w)))
    .join('|');

const UNIT = `(?<u>${anyOf(unitBySpelling.keys())})`;
const SIGN_CURRENCY = `(?<c>${anyOf([...currencyBySpelling.keys()].filter((w) => /[$€£¥¥]$/.test(w)))})`;
const WORD_CURRENCY = `(?<c>${anyOf([...currencyBySpelling.keys()].filter((w) => /^[\p{L}]/u.test(w) && !w.endsWith('$')))})`;
const MULTIPLIER = '(?: ?(?<x>thousand|million|billion|[km](?![a-z0-9])|[千万亿]))?';
const NUMBER = `(?<n>[-+]?(?:${DIGITS})|(?:${ENGLISH_WORDS})(?![a-z-])|${HAN_NUMERALS})`;

/** Of a plain number only: `a dozen of them` and 三明治 hold none. */
const plus = (written: string | undefined): string => (written ?? '').replace(/^\+/, '');

function amount(kind: string, written: string | undefined, multiplier?: string): string | undefined {
  const sign = written?.startsWith('-') === true ? '-' : '';
  const value = numberOf(plus(written).replace(/^-/, ''), multiplier);
  return value === undefined ? undefined : `${kind} ${sign}${value}`.trim();
}

const ORDINALS = 'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split(' ');

export const AMOUNT_RULES: readonly ValueRule[] = [
  {
    type: 'code',
    pattern: /[a-z][a-z0-9+.-]*:\/\/[^\s"<>]{1,400}|www\.[^\s"<>]{1,400}/iuy,
    read: (_, whole) => whole.replace(/[.,;:!?)]+$/u, ''),
  },
  { type: 'code', pattern: /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/uy, read: (_, whole) => whole.toLowerCase() },
  {
    type: 'money',
    pattern: new RegExp(`${SIGN_CURRENCY} ?(?<n>${DIGITS})${MULTIPLIER}`, 'yui'),
    read: ({ c, n, x }) => amount(currencyBySpelling.get((c ?? '').toLowerCase()) ?? '', n, x),
  },
  {
    type: 'money',
    pattern: new RegExp(`${NUMBER}${MULTIPLIER} ?${WORD_CURRENCY}(?![级素])`, 'yui'),
    read: ({ c, n, x }) => amount(currencyBySpelling.get((c ?? '').toLowerCase()) ?? '', n, x),
  },
  {
    type: 'money',
    pattern: new RegExp(`(?<n>${DIGITS}) ?(?<c>[€£$])`, 'yui'),
    read: ({ c, n }) => amount(currencyBySpelling.get(c ?? '') ?? '', n),
  },
  { type: 'percent', pattern: new RegExp(`${NUMBER} ?(?:%|percent|per cent)`, 'yui'), read: ({ n }) => amount('', n) },
  { type: 'percent', pattern: new RegExp(`百分之(?<n>${DIGITS}|${HAN_NUMERALS})`, 'yu'), read: ({ n }) => amount('', n) },
  // v2.1, 10.0.0.1, 3.11.4
  {
    type: 'version',
    pattern: /v(?:er)?\.? ?\d+(?:\.\d+)*(?:-[a-z0-9.]+)?(?![a-z0-9])/iuy,
    read: (_, whole) => whole.toLowerCase().replace(/^v(?:er)?\.? ?/, ''),
  },
  { type: 'version', pattern: /\d+(?:\.\d+){2,}(?:-[a-z0-9]+)?(?![a-z0-9])/iuy, read: (_, whole) => whole.toLowerCase() },
  { type: 'version', pattern: /(?:version|版本号?) ?(?<n>\d+(?:\.\d+)*)(?![a-z0-9])/iuy, read: ({ n }) => n },
  // telephone numbers in groups
  { type: 'code', pattern: /\+?\(?\d{2,4}\)?(?:[ -]\d{3,4}){1,3}(?![\d.])/uy, read: (_, whole) => whole.replace(/\D/g, '') },
  {
    type: 'quantity',
    pattern: new RegExp(`${NUMBER}${MULTIPLIER}[ -]?${UNIT}(?!\\p{Script=Latin})`, 'yui'),
    read: ({ n, u, x }) => amount(unitBySpelling.get((u ?? '').toLowerCase()) ?? '', n, x),
  },
  {
    type: 'quantity',
    pattern: /(?<n>once|twice|thrice)(?![a-z])/iuy,
    read: ({ n }) => `times ${['once', 'twice', 'thrice'].indexOf((n ?? '').toLowerCase()) + 1}`,
  },
  { type: 'ordinal', pattern: /(?<n>\d+)(?:st|nd|rd|th)(?![a-z])/iuy, read: ({ n }) => n },
  {
    type: 'ordinal',
    pattern: new RegExp(`(?<n>${ORDINALS.slice(1).join('|')})(?![a-z])`, 'yui'),
    read: ({ n }) => String(ORDINALS.indexOf((n ?? '').toLowerCase())),
  },
  { type: 'ordinal', pattern: new RegExp(`第(?<n>\\d+|${HAN_NUMERALS})`, 'yu'), read: ({ n }) => numberOf(n ?? '') },
  // letters with digits, snake_case
  {
    type: 'code',
    pattern: /(?:[a-z]{1,20}[-_./#]?\d|\d{1,12}[-_]?[a-z]|#\d)[a-z0-9_./#-]{0,60}/iuy,
    read: (_, whole) => foldCase(whole).replace(/[-_./#]+$/u, ''),
  },
  { type: 'code', pattern: /[a-z0-9]{1,30}(?:_[a-z0-9]{1,30})+/iuy, read: (_, whole) => foldCase(whole) },
  {
    type: 'quantity',
    pattern: new RegExp(`(?<n>${DIGITS}|${HAN_NUMERALS}) ?(?<u>${MEASURE_WORDS})`, 'yu'),
    read: ({ n, u }) => amount(u ?? '', n),
  },
  { type: 'number', pattern: new RegExp(`(?<n>[-+]?(?:${DIGITS}))${MULTIPLIER}`, 'yui'), read: ({ n, x }) => amount('', n, x) },
  { type: 'number', pattern: new RegExp(`(?<n>${ENGLISH_WORDS})(?![a-z-])${MULTIPLIER}`, 'yui'), read: ({ n, x }) => amount('', n, x) },
];
