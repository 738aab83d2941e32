/** Dates, weekdays and times of day in one spelling each; relative days stay relative, as the moment they were said is not known here. */
import { HAN_NUMERALS, numberOf } from './numerals.ts';
import type { ValueRule } from './token.ts';

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const MONTH = `(?<mon>${MONTHS.map((m) => (m === 'may' ? 'May' : `${m}|${m.slice(0, 3)}${m === 'september' ? '|sept' : ''}`)).join('|')})\\.?`;
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const HAN_WEEKDAYS: Readonly<Record<string, number>> = { 日: 0, 天: 0, 一: 1, 二: 2, 三: 3, 四: 4, 五: 5, 六: 6 };
const YEAR = String.raw`(?:19|20)\d\d(?!\d)`;
const DAY = String.raw`(?<d>\d{1,2})(?:st|nd|rd|th)?(?![\d.:%])`;

const two = (value: string | number): string => String(value).padStart(2, '0');

/** `2024-05-03`, with `*` for what is not said. */
function date(year: string | undefined, month: string | number | undefined, day?: string): string | undefined {
  const [m, d] = [Number(month), day === undefined ? undefined : Number(day)];
  if (month !== undefined && !(m >= 1 && m <= 12)) return undefined;
  if (d !== undefined && !(d >= 1 && d <= 31)) return undefined;
  return `${year ?? '*'}${month === undefined ? '' : `-${two(m)}`}${d === undefined ? '' : `-${two(d)}`}`;
}

function monthOf(written: string | undefined): number {
  const start = (written ?? '').toLowerCase().slice(0, 3);
  return MONTHS.findIndex((month) => month.startsWith(start)) + 1;
}

/** A year in digits or as 二〇二四. */
const HAN_YEAR = '[〇零一二三四五六七八九]{4}';
function yearOf(written: string | undefined): string | undefined {
  return written === undefined || /^\d/.test(written) ? written : [...written].map((char) => numberOf(char) ?? '').join('');
}

const clock = (hours: number, minutes: number): string | undefined =>
  hours <= 24 && minutes < 60 ? `${two(hours)}:${two(minutes)}` : undefined;

function englishTime({ h, min, half }: Readonly<Record<string, string | undefined>>): string | undefined {
  const hours = Number(h);
  const after = half?.toLowerCase().startsWith('p');
  if (half === undefined) return clock(hours, Number(min ?? 0));
  return hours >= 1 && hours <= 12 ? clock((hours % 12) + (after ? 12 : 0), Number(min ?? 0)) : undefined;
}

const AFTERNOON = /下午|傍晚|晚/u;

function hanTime({ part, h, min, mark }: Readonly<Record<string, string | undefined>>): string | undefined {
  const hours = Number(numberOf(h ?? ''));
  const minutes = mark === '半' ? 30 : mark === '一刻' ? 15 : mark === '三刻' ? 45 : min === undefined ? 0 : Number(numberOf(min));
  if (!Number.isInteger(hours) || !Number.isInteger(minutes)) return undefined;
  const later = part !== undefined && (AFTERNOON.test(part) ? hours < 12 : part === '中午' && hours < 11);
  return clock(hours + (later ? 12 : 0), minutes);
}

const relative =
  (days: number): (() => string) =>
  () =>
    `today${days < 0 ? '' : '+'}${days}`;

export const DATE_RULES: readonly ValueRule[] = [
  {
    type: 'date',
    pattern: new RegExp(`(?<y>${YEAR}) ?(?<sep>[-/.]) ?(?<m>\\d{1,2}) ?\\k<sep> ?(?<d>\\d{1,2})(?!\\d)`, 'yu'),
    read: ({ y, m, d }) => date(y, m, d),
  },
  // which is the month is not known: two spellings of one day stay two
  { type: 'date', pattern: /\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}(?![\d.])/uy, read: (_, whole) => `as written ${whole}` },
  { type: 'date', pattern: new RegExp(`(?<y>${YEAR})-(?<m>\\d{2})(?![-\\d])`, 'yu'), read: ({ y, m }) => date(y, m) },
  {
    type: 'date',
    pattern: new RegExp(
      `(?:(?<y>${YEAR}|${HAN_YEAR}) ?年 ?)?(?<m>\\d{1,2}|${HAN_NUMERALS}) ?月 ?(?<d>\\d{1,2}|${HAN_NUMERALS}) ?[日号]`,
      'yu',
    ),
    read: ({ y, m, d }) => date(yearOf(y), numberOf(m ?? ''), numberOf(d ?? '')),
  },
  {
    type: 'date',
    pattern: new RegExp(
      `(?:(?<y>${YEAR}) ?年 ?)?(?<m>\\d{1,2}|[一二三四五六七八九十]{1,2}) ?月份?(?!\\p{N})(?:(?<part>[初底末])(?!\\p{N}))?`,
      'yu',
    ),
    read: ({ y, m, part }) => {
      const read = date(y, numberOf(m ?? ''));
      return read === undefined ? undefined : read + (part ?? '');
    },
  },
  { type: 'date', pattern: new RegExp(`(?<y>${YEAR}) ?年(?!级)`, 'yu'), read: ({ y }) => date(y, undefined) },
  {
    type: 'date',
    pattern: new RegExp(`(?:the )?${DAY} (?:of )?${MONTH}(?![a-z])(?:,? (?<y>${YEAR}))?`, 'yui'),
    read: ({ y, mon, d }) => date(y, monthOf(mon), d),
  },
  {
    type: 'date',
    pattern: new RegExp(`${MONTH}(?![a-z]) (?:the )?${DAY}(?:,? (?<y>${YEAR}))?`, 'yui'),
    read: ({ y, mon, d }) => date(y, monthOf(mon), d),
  },
  { type: 'date', pattern: new RegExp(`${MONTH}(?![a-z]),? (?<y>${YEAR})`, 'yui'), read: ({ y, mon }) => date(y, monthOf(mon)) },
  {
    type: 'date',
    pattern: new RegExp(`(?<=\\b(?:in|since|until|till|from|by|during) )(?<y>${YEAR})(?![-/.:]\\d)`, 'yui'),
    read: ({ y }) => date(y, undefined),
  },
  // may and march, alone and in small letters, are words
  {
    type: 'date',
    pattern: new RegExp(`(?:${MONTHS.map((m) => m.charAt(0).toUpperCase() + m.slice(1)).join('|')})(?![a-z])`, 'yu'),
    read: (_, whole) => date(undefined, monthOf(whole)),
  },
  {
    type: 'weekday',
    pattern: /(?:周|星期|礼拜)(?<wd>[一二三四五六日天])(?! ?[次趟回遍年个])/uy,
    read: ({ wd }) => String(HAN_WEEKDAYS[wd ?? '']),
  },
  {
    type: 'weekday',
    pattern: new RegExp(
      `(?<wd>${WEEKDAYS.map((d) => `${d}s?|${d.slice(0, 3)}${d === 'thursday' ? '|thurs?' : d === 'tuesday' ? '|tues' : ''}`).join('|')})(?![a-z])`,
      'yui',
    ),
    // sat and sun are words too
    read: ({ wd }, whole) =>
      /^[a-z]{3}$/.test(whole) ? undefined : String(WEEKDAYS.findIndex((day) => day.startsWith((wd ?? '').toLowerCase().slice(0, 3)))),
  },
  { type: 'date', pattern: /(?:the day after tomorrow|后天)(?![a-z])/iuy, read: relative(2) },
  { type: 'date', pattern: /(?:tomorrow|明天|明日)(?![a-z])/iuy, read: relative(1) },
  { type: 'date', pattern: /(?:today|今天|今日)(?![a-z])/iuy, read: relative(0) },
  { type: 'date', pattern: /(?:yesterday|昨天|昨日)(?![a-z])/iuy, read: relative(-1) },
  {
    type: 'time',
    pattern: /(?<h>\d{1,2}):(?<min>\d{2})(?::\d{2})?(?: ?(?<half>[ap])\.?m\b\.?)?(?![\d:])/iuy,
    read: englishTime,
  },
  { type: 'time', pattern: /(?<h>\d{1,2}) ?(?<half>[ap])\.?m\b\.?/iuy, read: englishTime },
  { type: 'time', pattern: /(?<h>\d{1,2}) o'clock/iuy, read: englishTime },
  {
    type: 'time',
    pattern: new RegExp(
      `(?<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚|早)? ?(?<h>\\d{1,2}|[一二两三四五六七八九十]{1,3}) ?(?:点钟?|(?<=\\d ?)时(?!间|候|区))(?:(?<min>\\d{1,2}|[一二三四五六七八九十]{1,3})分?|(?<mark>半|一刻|三刻)|整)?(?!建议|意见|要求|原因|理由)`,
      'yu',
    ),
    read: hanTime,
  },
  { type: 'time', pattern: /(?<part>早上|早晨|上午|中午|下午|傍晚|晚上|晚)(?<h>\d{1,2}):(?<min>\d{2})/uy, read: hanTime },
  { type: 'time', pattern: /noon(?![a-z])/iuy, read: () => '12:00' },
  { type: 'time', pattern: /midnight(?![a-z])/iuy, read: () => '00:00' },
];
