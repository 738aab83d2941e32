/** When festivals and lunar days fall in a year of the common calendar; the lunar calendar is that of ICU. Read by the rules of both languages. */

const DAY_MS = 86_400_000;
/** The lunar year begins between these days: 21 January and 20 February (ICU, 1900 to 2100). */
const NEW_YEAR_FROM = 20;
const LUNAR_YEAR_DAYS = 385;

/** First day (ms, UTC) of a festival in a year, and how many days it is spoken of; one more counts on either side. */
interface Festival {
  readonly at: (year: number) => number | undefined;
  readonly days?: number;
}

const fixed = (month: number, day: number, days = 1): Festival => ({ at: (year) => Date.UTC(year, month - 1, day), days });
const lunar = (month: number, day: number, days = 1): Festival => ({ at: (year) => lunarDay(year, month, day), days });

/** Names as the rules' patterns capture them, in lower case. */
const FESTIVALS: readonly (readonly [names: string, festival: Festival])[] = [
  ['春节|大年初一|spring festival|chinese new year|lunar new year', lunar(1, 1, 7)],
  ['除夕|年三十|大年三十|chinese new year’s eve', { at: dayBefore(lunar(1, 1)) }],
  ['元宵节|lantern festival', lunar(1, 15)],
  ['端午|端午节|dragon boat festival', lunar(5, 5, 3)],
  ['七夕|七夕节', lunar(7, 7)],
  ['中秋|中秋节|mid-autumn festival|moon festival', lunar(8, 15, 3)],
  ['重阳节', lunar(9, 9)],
  ['元旦|new year’s day', fixed(1, 1, 3)],
  ['情人节|valentine’s day', fixed(2, 14)],
  ['妇女节|women’s day', fixed(3, 8)],
  ['清明节', { at: (year) => Date.UTC(year, 3, 4), days: 3 }],
  ['劳动节|五一节|五一假期|五一期间', fixed(5, 1, 5)],
  ['儿童节|六一儿童节', fixed(6, 1)],
  ['independence day|fourth of july', fixed(7, 4)],
  ['教师节', fixed(9, 10)],
  ['国庆节|国庆假期|国庆期间|国庆长假|十一假期', fixed(10, 1, 7)],
  ['万圣节|halloween', fixed(10, 31)],
  ['双十一|双11', fixed(11, 11)],
  ['感恩节|thanksgiving', { at: (year) => nthWeekday(year, 11, 4, 4) }],
  ['平安夜|christmas eve', fixed(12, 24)],
  ['圣诞|圣诞节|christmas', fixed(12, 25)],
  ['跨年|new year’s eve', fixed(12, 31)],
  ['复活节|easter', { at: easter }],
  ['母亲节|mother’s day', { at: (year) => nthWeekday(year, 5, 0, 2) }],
  ['父亲节|father’s day', { at: (year) => nthWeekday(year, 6, 0, 3) }],
];

const BY_NAME: ReadonlyMap<string, Festival> = new Map(
  FESTIVALS.flatMap(([names, festival]) => names.split('|').map((name) => [plain(name), festival] as const)),
);

/** Longest first, so that a pattern made of them reads 中秋节 before 中秋. */
const NAMES: readonly string[] = FESTIVALS.flatMap(([names]) => names.split('|')).sort((a, b) => b.length - a.length);
const HAN = /\p{Script=Han}/u;

/** Alternatives of a pattern. */
export const CHINESE_FESTIVAL = NAMES.filter((name) => HAN.test(name)).join('|');
export const ENGLISH_FESTIVAL = NAMES.filter((name) => !HAN.test(name))
  .map((name) => name.replace('’', "['’]?"))
  .join('|');

/** `[firstMs, endMs)` of a festival in a year, a day more on either side; undefined for what is none. */
export function festivalIn(name: string, year: number): readonly [number, number] | undefined {
  const festival = BY_NAME.get(plain(name.toLowerCase()));
  const start = festival?.at(year);
  return start === undefined ? undefined : [start - DAY_MS, start + ((festival?.days ?? 1) + 1) * DAY_MS];
}

/** Days (ms, UTC) of the lunar year that begins in a year, by `month/day`. A year takes a millisecond, once. */
const lunarYears = new Map<number, ReadonlyMap<string, number>>();
const MAX_YEARS_KEPT = 64;

/** The day of the lunar year that begins in `year`; undefined where it has no such day. Leap months are left out. */
export function lunarDay(year: number, month: number, day: number): number | undefined {
  let days = lunarYears.get(year);
  if (days === undefined) {
    if (lunarYears.size >= MAX_YEARS_KEPT) lunarYears.clear();
    days = daysOf(year);
    lunarYears.set(year, days);
  }
  return days.get(`${month}/${day}`);
}

function daysOf(year: number): ReadonlyMap<string, number> {
  const format = new Intl.DateTimeFormat('en-u-ca-chinese', { timeZone: 'UTC', month: 'numeric', day: 'numeric' });
  const days = new Map<string, number>();
  const first = Date.UTC(year, 0, NEW_YEAR_FROM);
  for (let i = 0; i < LUNAR_YEAR_DAYS + NEW_YEAR_FROM; i += 1) {
    const ms = first + i * DAY_MS;
    const parts = format.formatToParts(ms);
    const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
    const name = `${of('month')}/${of('day')}`;
    if (name === '1/1' && days.size > 0) break;
    if (name === '1/1' || days.size > 0) days.set(name, ms);
  }
  return days;
}

/** Apostrophes are written in two ways, and left out. */
function plain(name: string): string {
  return name.replace(/['’]/g, '');
}

function dayBefore({ at }: Festival): Festival['at'] {
  return (year) => {
    const ms = at(year);
    return ms === undefined ? undefined : ms - DAY_MS;
  };
}

/** The n-th such weekday (0 is Sunday) of a month. */
function nthWeekday(year: number, month: number, weekday: number, n: number): number {
  const first = Date.UTC(year, month - 1, 1);
  return first + (((weekday - new Date(first).getUTCDay() + 7) % 7) + 7 * (n - 1)) * DAY_MS;
}

/** Easter Sunday: Meeus, Astronomical Algorithms, chapter 8 (Gregorian calendar). */
function easter(year: number): number {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(b / 4);
  const e = b % 4;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - d - g + 15) % 30;
  const i = Math.floor(c / 4);
  const k = c % 4;
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return Date.UTC(year, Math.floor(n / 31) - 1, (n % 31) + 1);
}
