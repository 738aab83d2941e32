/** Date rules for English questions, from the most exact expression to the loosest. */
import { ENGLISH_FESTIVAL } from './festivals.ts';
import { ENGLISH_NUMBER as N, englishNumber } from './numbers.ts';
import { YEAR } from './rule.ts';
import type { DateRule } from './rule.ts';

const MONTH_NAMES = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAY_NAMES = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const MONTH = `(?:${MONTH_NAMES.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\b\\.?`;
const WEEKDAY = `(?:${WEEKDAY_NAMES.join('|')})`;
const ORDINAL = '(?:st|nd|rd|th)';
/** A day of the month that is not the beginning of a longer number, a time, a fraction or a percentage. */
const DAY = `\\d{1,2}(?![\\d%]|[.:]\\d)`;
const YEAR_TAIL = `(?: ?,? ?(?:of )?(?<y>${YEAR}))?`;
const TO = '(?<to>-|–|—|to|through|thru|until|till|and)';
const HALF_YEAR_MONTHS = 6;
const LOOSE_DAYS = 7;
/** First months, as the north has them. */
const SEASONS: Readonly<Record<string, number>> = { spring: 3, summer: 6, autumn: 9, fall: 9, winter: 12 };
const SEASON = Object.keys(SEASONS).join('|');
/** What is called by a festival's name the whole year: "the Christmas tree" says no day. */
const CALLED_AFTER = 'trees?|cards?|carols?|cookies?|songs?|music|movies?|sweaters?|ornaments?|cactus|island';
const DAYS_IN: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30 };

/** Month number of a name or abbreviation. */
function monthOf(name: string | undefined): number {
  const short = (name ?? '').slice(0, 3).toLowerCase();
  return MONTH_NAMES.findIndex((month) => month.startsWith(short)) + 1;
}

function weekdayOf(name: string | undefined): number {
  return WEEKDAY_NAMES.indexOf((name ?? '').toLowerCase());
}

/** In lower case "may" and "march" are verbs unless an ordinal or a year says otherwise. */
function isVerb(name: string | undefined): boolean {
  return /^(?:may|march|mar)\b/.test(name ?? '');
}

function optionalYear(year: string | undefined): number | undefined {
  return year === undefined ? undefined : Number(year);
}

/** A rule over English words: any case, expressions between word boundaries. */
function rule(examples: readonly string[], pattern: string, read: DateRule['read']): DateRule {
  return { examples, pattern: new RegExp(`(?<![\\w-])(?:${pattern})(?![A-Za-z])`, 'gi'), read };
}

export const ENGLISH_RULES: readonly DateRule[] = [
  rule(
    [
      'Christmas 2022',
      'Thanksgiving of 2023',
      "New Year's Eve, 2022",
      'last Halloween',
      'this Easter',
      'Christmas last year',
      'on Valentine’s Day',
    ],
    `(?:(?<p>last|this|this past|past) )?(?<f>${ENGLISH_FESTIVAL})(?! (?:${CALLED_AFTER})\\b)(?:,? (?:(?:in |of )?(?<y>${YEAR})|(?<py>last|this) year))?`,
    ({ p, f = '', y, py }, out) => {
      const before = p?.toLowerCase();
      if (y !== undefined) return out.festival(f, Number(y));
      if (py !== undefined) return out.festival(f, out.year - (py.toLowerCase() === 'last' ? 1 : 0));
      if (before === 'this') return out.festival(f, out.year);
      return before === undefined ? out.festival(f, undefined) : out.lastFestival(f);
    },
  ),
  rule(
    [
      'August 11-15, 2023',
      'August 11 to August 15',
      'between May 3 and May 7, 2023',
      'from May 30, 2023 to June 2, 2023',
      'Aug 11th and 15th',
    ],
    `(?<open>between |from )?(?<m>${MONTH}) (?<d>${DAY})${ORDINAL}?(?:,? (?<y1>${YEAR}))? ?${TO} ?(?:(?<m2>${MONTH}) )?(?<d2>${DAY})${ORDINAL}?${YEAR_TAIL}`,
    ({ open, m, d, y1, to, m2, d2, y }, out) => {
      if (isVerb(m)) return false;
      const first = { year: optionalYear(y1), month: monthOf(m), day: Number(d) };
      const last = { year: optionalYear(y), month: monthOf(m2 ?? m), day: Number(d2) };
      if (open !== undefined || to?.toLowerCase() !== 'and') return out.span(first, last);
      // "May 3 and May 7" are two days, the year of the last serves both.
      const firstRead = out.day(first.year ?? last.year, first.month, first.day);
      return out.day(last.year, last.month, last.day) || firstRead;
    },
  ),
  rule(
    ['11-15 August 2023', '3 June to 7 June 2023', 'between 3rd and 7th of May'],
    `(?<open>between |from )?(?<d>${DAY})${ORDINAL}?(?: (?:of )?(?<m>${MONTH}))? ?${TO} ?(?<d2>${DAY})${ORDINAL}? (?:of )?(?<m2>${MONTH})${YEAR_TAIL}`,
    ({ open, d, m, to, d2, m2, y }, out) => {
      if (isVerb(m2) || (open === undefined && to?.toLowerCase() === 'and')) return false;
      const last = { year: optionalYear(y), month: monthOf(m2), day: Number(d2) };
      return out.span({ year: undefined, month: monthOf(m ?? m2), day: Number(d) }, last);
    },
  ),
  rule(
    ['May 7, 2023', 'April 27th', 'Sept. 5', 'December 1,2023', 'june the 3rd', 'Mar 5'],
    `(?<m>${MONTH}) (?:the )?(?<d>${DAY})(?<ord>${ORDINAL})?${YEAR_TAIL}`,
    ({ m, d, ord, y }, out) =>
      isVerb(m) && ord === undefined && y === undefined ? false : out.day(optionalYear(y), monthOf(m), Number(d)),
  ),
  rule(
    ['3 June, 2023', '7th of May', '21st March 2024', '5 Sep'],
    `(?<d>${DAY})(?<ord>${ORDINAL})? (?<of>of )?(?<m>${MONTH})${YEAR_TAIL}`,
    ({ d, ord, of, m, y }, out) =>
      isVerb(m) && ord === undefined && of === undefined && y === undefined ? false : out.day(optionalYear(y), monthOf(m), Number(d)),
  ),
  rule(['December 2023', 'Dec. 2023', 'May, 2023', 'march of 2024'], `(?<m>${MONTH}) ?,? ?(?:of )?(?<y>${YEAR})`, ({ m, y }, out) =>
    out.month(Number(y), monthOf(m)),
  ),
  rule(
    ['in June', 'since March', 'early May', 'in december', 'last May', 'mid-July', 'end of August', 'through April'],
    `(?:in|during|since|by|of|from|through|early|late|mid|last|this|until|till|before|after|for)[ -](?<m>${MONTH})`,
    ({ m }, out) => (isVerb(m) ? false : out.month(undefined, monthOf(m))),
  ),
  rule(['next June', 'next May'], `next (?<m>${MONTH})`, ({ m }, out) => (isVerb(m) ? false : out.nextMonthNamed(monthOf(m)))),
  rule(
    ['last summer', 'this spring', 'summer of 2023', 'winter 2022', 'the past fall', 'summer last year', 'in the spring of this year'],
    `(?:(?<p>last|this|past) (?<s>${SEASON})|(?<s2>${SEASON}),? (?:of |in )?(?:(?<y>${YEAR})|(?<py>last|this) year))`,
    ({ p, s, s2, y, py }, out) => {
      const first = SEASONS[(s ?? s2 ?? '').toLowerCase()] ?? NaN;
      if (y !== undefined) return out.season(Number(y), first);
      if (py !== undefined) return out.season(out.year - (py.toLowerCase() === 'last' ? 1 : 0), first);
      return p?.toLowerCase() === 'this' ? out.season(out.year, first) : out.lastSeason(first);
    },
  ),
  rule(['last month', 'past month', 'previous month'], '(?:last|past|previous) month', (_, out) => out.monthsBack(1)),
  rule(['this month'], 'this month', (_, out) => out.monthsBack(0)),
  rule(['next month'], 'next month', (_, out) => out.monthsBack(-1)),
  rule(['half a year ago', 'six months back'], '(?:half a year|six months) (?:ago|back)', (_, out) => out.monthsBack(HALF_YEAR_MONTHS)),
  rule(['3 months ago', 'a month ago', 'a couple of months ago'], `(?<n>${N}) months? (?:ago|back)`, ({ n }, out) =>
    out.monthsBack(englishNumber(n)),
  ),
  rule(
    ['Friday last week', 'tuesday of last week', 'Monday this week'],
    `(?<wd>${WEEKDAY}),? (?:of )?(?<p>last|this) week`,
    ({ wd, p }, out) => out.weekdayOfWeek(p?.toLowerCase() === 'last' ? 1 : 0, weekdayOf(wd)),
  ),
  rule(['last Friday', 'on Monday', 'this past Sunday'], `(?:last|on|this past|past) (?<wd>${WEEKDAY})`, ({ wd }, out) =>
    out.lastWeekday(weekdayOf(wd)),
  ),
  rule(['next Friday', 'coming Monday'], `(?:next|coming) (?<wd>${WEEKDAY})`, ({ wd }, out) => out.nextWeekday(weekdayOf(wd))),
  rule(['this Tuesday'], `this (?<wd>${WEEKDAY})`, ({ wd }, out) => out.weekdayOfWeek(0, weekdayOf(wd))),
  rule(['last weekend', 'past weekend'], '(?:last|past) weekend', (_, out) => out.weekendBack(1)),
  rule(['this weekend'], 'this weekend', (_, out) => out.weekendBack(0)),
  rule(['the week before last'], 'week before last', (_, out) => out.weeksBack(2)),
  rule(['last week', 'past week', 'previous week'], '(?:last|past|previous) week', (_, out) => out.weeksBack(1)),
  rule(['this week'], 'this week', (_, out) => out.weeksBack(0)),
  rule(['next week'], 'next week', (_, out) => out.weeksBack(-1)),
  rule(['two weeks ago', 'a week ago', 'a couple of weeks ago'], `(?<n>${N}) weeks? (?:ago|back)`, ({ n }, out) =>
    out.weeksBack(englishNumber(n)),
  ),
  rule(['a fortnight ago'], 'fortnight ago', (_, out) => out.weeksBack(2)),
  rule(
    ['in the last 3 days', 'past two weeks', 'last 2 months'],
    `(?:last|past) (?<n>${N}) (?<unit>day|week|month)s?`,
    ({ n, unit }, out) => out.lastDays(englishNumber(n) * (DAYS_IN[(unit ?? '').toLowerCase()] ?? NaN)),
  ),
  rule(['day before yesterday'], 'day before yesterday', (_, out) => out.daysBack(2)),
  rule(['yesterday', 'last night', 'last evening'], 'yesterday|last (?:night|evening)', (_, out) => out.daysBack(1)),
  rule(['day after tomorrow'], 'day after tomorrow', (_, out) => out.daysBack(-2)),
  rule(['tomorrow'], 'tomorrow', (_, out) => out.daysBack(-1)),
  rule(['3 days ago', 'ten days ago', 'a day ago', 'a couple of days ago'], `(?<n>${N}) days? (?:ago|back)`, ({ n }, out) =>
    out.daysBack(englishNumber(n)),
  ),
  rule(
    ['a few days ago', 'several days ago', 'the other day', 'some days back'],
    '(?:few|several|some) days (?:ago|back)|the other day',
    (_, out) => out.lastDays(LOOSE_DAYS),
  ),
  rule(['a few weeks ago', 'several months ago'], '(?:few|several|some) (?<unit>week|month)s (?:ago|back)', ({ unit }, out) =>
    out.lastDays(unit?.toLowerCase() === 'month' ? 180 : 30),
  ),
  // Today is said in passing ("what shall I eat today"): a loose window, not the strong boost of a day.
  rule(['today', 'tonight', 'this morning'], 'today|tonight|this (?:morning|afternoon|evening)', (_, out) => out.lastDays(0)),
  rule(['last year', 'this year', 'next year'], '(?<p>last|past|this|next) year', ({ p }, out) =>
    out.wholeYear(out.year + ({ this: 0, next: 1 }[(p ?? '').toLowerCase()] ?? -1)),
  ),
  rule(['two years ago', 'a year ago', '5 years back'], `(?<n>${N}) years? (?:ago|back)`, ({ n }, out) =>
    out.wholeYear(out.year - englishNumber(n)),
  ),
  rule(
    ['in 2023', 'since 2019', 'the year 2020'],
    `(?:in|during|of|since|from|until|by|before|after|year) (?<y>${YEAR})(?![-/.:]\\d)`,
    ({ y }, out) => out.wholeYear(Number(y)),
  ),
];
