/** Date rules for Chinese questions, from the most exact expression to the loosest. */
import { CHINESE_NUMBER as N, CHINESE_ORDINAL as O, chineseNumber, chineseYear } from './numbers.ts';
import type { DateCollector } from './collector.ts';
import { CHINESE_FESTIVAL } from './festivals.ts';
import { YEAR } from './rule.ts';
import type { DateRule } from './rule.ts';

const YEARS_BACK: Readonly<Record<string, number>> = { 大前年: 3, 前年: 2, 去年: 1, 今年: 0, 本年: 0, 明年: -1 };
const MONTHS_BACK: Readonly<Record<string, number>> = { 上上: 2, 上: 1, 这: 0, 本: 0, 当: 0, 下: -1 };
const WEEKS_BACK: Readonly<Record<string, number>> = { 上上: 2, 上: 1, 这: 0, 本: 0, 下: -1, 下下: -2 };
const DAYS_BACK: Readonly<Record<string, number>> = { 大前: 3, 前: 2, 昨: 1, 明: -1, 后: -2, 大后: -3 };
/** Months by name; the first of each season, as the north has them. */
const LUNAR_MONTHS: Readonly<Record<string, number>> = { 正: 1, 冬: 11, 腊: 12 };
const SEASONS: Readonly<Record<string, number>> = { 春: 3, 夏: 6, 秋: 9, 冬: 12 };
const WEEKDAYS: Readonly<Record<string, number>> = { 日: 0, 天: 0, 一: 1, 二: 2, 三: 3, 四: 4, 五: 5, 六: 6 };

const YEAR_PREFIX = `(?:(?<y>${YEAR}|[〇零一二三四五六七八九]{4}) ?年 ?|(?<ry>大?前年|去年|今年|本年|明年)的? ?)?`;
/** "Ago", but not 前往 (to go to) and its like: 哪一年前往 is no "a year ago". */
const AGO = '(?:以|之)?前(?![往来去进程景提])';
const DAY_MARK = '[日号]';
const WEEK = '(?:周|星期|礼拜)';
/** 每周五, 一周三次 (three times a week) and 三周一次 name no day. */
const NO_WEEKDAY_BEFORE = '(?<![一二两三四五六七八九十\\d每双单几整半个])';
const NO_WEEKDAY_AFTER = '(?! ?[次趟回遍年个一二三四五六七八九十])';
const HALF_YEAR_MONTHS = 6;
const LOOSE_DAYS = 7;

type Groups = Readonly<Record<string, string | undefined>>;

/** The year an expression names, by number or as 去年; undefined when it names none. */
function yearOf({ y, ry }: Groups, out: DateCollector): number | undefined {
  return ry === undefined ? chineseYear(y) : out.year - (YEARS_BACK[ry] ?? NaN);
}

/** 上个月15号 or 下周五: the table's value for the prefix. */
function back(table: Readonly<Record<string, number>>, prefix: string | undefined): number {
  return table[prefix ?? ''] ?? NaN;
}

export const CHINESE_RULES: readonly DateRule[] = [
  {
    // Read even when it names no day, so that no other rule takes it for a solar one. Leap months are left out.
    examples: ['农历八月十五', '阴历2023年八月十五日', '农历五月初五', '农历腊月廿三', '去年农历正月初三'],
    pattern: new RegExp(
      `(?:(?<ly>大?前年|去年|今年)的? ?)?(?:农历|阴历|旧历)的? ?${YEAR_PREFIX}(?<leap>闰)?(?<m>${N}|[正腊冬])月(?: ?初?(?<d>${N})${DAY_MARK}?)?`,
      'gu',
    ),
    read: ({ ly, leap, m = '', d, ...groups }, out) => {
      const year = yearOf(ly === undefined ? groups : { ry: ly }, out);
      if (leap === undefined && d !== undefined) out.lunar(year, LUNAR_MONTHS[m] ?? chineseNumber(m), chineseNumber(d));
      return true;
    },
  },
  {
    examples: ['上个春节', '上一个中秋节', '上次国庆节'],
    pattern: new RegExp(`上(?:一?个|次的?)(?<f>${CHINESE_FESTIVAL})`, 'gu'),
    read: ({ f }, out) => out.lastFestival(f ?? ''),
  },
  {
    examples: ['去年春节', '2023年中秋节', '国庆假期', '除夕', '前年的圣诞节', '明年端午'],
    pattern: new RegExp(`${YEAR_PREFIX}(?<f>${CHINESE_FESTIVAL})(?![老树帽歌卡糖])`, 'gu'),
    read: (groups, out) => out.festival(groups.f ?? '', yearOf(groups, out)),
  },
  {
    examples: ['5月1日到5月7日', '2023年12月30日至1月2日', '五月一号到三号', '5月1日-7日', '去年8月1号到8月5号'],
    pattern: new RegExp(
      `${YEAR_PREFIX}(?<m>${O}) ?月 ?(?<d>${O}) ?${DAY_MARK}? ?(?:到|至|[-~—–]) ?(?:(?<y2>${YEAR})年)?(?:(?<m2>${O}) ?月 ?)?(?<d2>${O}) ?${DAY_MARK}`,
      'gu',
    ),
    read: (groups, out) => {
      const month = chineseNumber(groups.m);
      const first = { year: yearOf(groups, out), month, day: chineseNumber(groups.d) };
      const month2 = groups.m2 === undefined ? month : chineseNumber(groups.m2);
      return out.span(first, { year: chineseYear(groups.y2), month: month2, day: chineseNumber(groups.d2) });
    },
  },
  {
    examples: ['2024年5月2日', '5月2号', '五月二十一日', '二〇二四年三月八日', '去年5月2号', '十二月廿五日'],
    pattern: new RegExp(`${YEAR_PREFIX}(?<m>${O}) ?月 ?(?<d>${O}) ?${DAY_MARK}`, 'gu'),
    // Read even when the calendar has no such day: 2月30日 is not "in February" either.
    read: (groups, out) => out.day(yearOf(groups, out), chineseNumber(groups.m), chineseNumber(groups.d)) || true,
  },
  {
    examples: ['2024年5月2', '2023 年 11 月 3'],
    pattern: new RegExp(`(?<y>${YEAR}) ?年 ?(?<m>\\d{1,2}) ?月 ?(?<d>\\d{1,2})(?![\\d.个])`, 'gu'),
    read: ({ y, m, d }, out) => out.day(Number(y), Number(m), Number(d)),
  },
  {
    examples: ['上个月15号', '这个月三号', '本月5日', '上月20日'],
    pattern: new RegExp(`(?<p>上上|上|这|本|当|下)个?月(?:的)? ?(?<d>${O}) ?${DAY_MARK}`, 'gu'),
    read: ({ p, d }, out) => out.dayOfMonthsBack(back(MONTHS_BACK, p), chineseNumber(d)),
  },
  {
    examples: ['2024年3月', '八月', '去年十二月', '6月份', '二〇二三年五月', '3月初', '今年一月'],
    pattern: new RegExp(`${YEAR_PREFIX}(?<![\\d一二三四五六七八九十.-])(?<m>${O}) ?月(?:份|初|中旬|上旬|下旬|底|末)?`, 'gu'),
    read: (groups, out) => out.month(yearOf(groups, out), chineseNumber(groups.m)),
  },
  {
    examples: ['上个月', '上月', '上上个月', '这个月', '本月', '下个月'],
    pattern: /(?<p>上上|上|这|本|当|下)个?月(?![亮球光票嫂饼])/gu,
    read: ({ p }, out) => out.monthsBack(back(MONTHS_BACK, p)),
  },
  {
    examples: ['三个月前', '2个月以前', '两个月之前'],
    pattern: new RegExp(`(?<n>${N}) ?个月${AGO}`, 'gu'),
    read: ({ n }, out) => out.monthsBack(chineseNumber(n)),
  },
  {
    examples: ['半年前', '半年以前'],
    pattern: /半年(?:以|之)?前/gu,
    read: (_, out) => out.monthsBack(HALF_YEAR_MONTHS),
  },
  {
    examples: ['上周五', '上个星期三', '上上周日', '这周一', '本周二', '下周四', '上礼拜天'],
    pattern: new RegExp(`(?<p>上上|上|这|本|下下|下)个?${WEEK}的?(?<wd>[一二三四五六日天])${NO_WEEKDAY_AFTER}`, 'gu'),
    read: ({ p, wd }, out) => out.weekdayOfWeek(back(WEEKS_BACK, p), WEEKDAYS[wd ?? ''] ?? NaN),
  },
  {
    examples: ['上周末', '上个周末', '这周末', '本周末', '下周末'],
    pattern: /(?<p>上上|上|这|本|下)个?(?:周|星期)末/gu,
    read: ({ p }, out) => out.weekendBack(back(WEEKS_BACK, p)),
  },
  {
    examples: ['上周', '上个星期', '上上周', '这周', '本周', '下周', '上礼拜'],
    pattern: new RegExp(`(?<p>上上|上|这|本|下下|下)个?${WEEK}(?![一二三四五六日天])`, 'gu'),
    read: ({ p }, out) => out.weeksBack(back(WEEKS_BACK, p)),
  },
  {
    examples: ['两周前', '3个星期前', '一周以前'],
    pattern: new RegExp(`(?<n>${N}) ?个?${WEEK}${AGO}`, 'gu'),
    read: ({ n }, out) => out.weeksBack(chineseNumber(n)),
  },
  {
    examples: ['周五', '星期三', '礼拜天'],
    pattern: new RegExp(`${NO_WEEKDAY_BEFORE}${WEEK}(?<wd>[一二三四五六日天])${NO_WEEKDAY_AFTER}`, 'gu'),
    read: ({ wd }, out) => out.lastWeekday(WEEKDAYS[wd ?? ''] ?? NaN),
  },
  {
    examples: ['最近三天', '过去7天', '近两周', '最近两个月', '过去一个月'],
    pattern: new RegExp(`(?:最近|过去|近)(?:的|这)? ?(?<n>${N}) ?(?<unit>天|日|个?(?:周|星期|礼拜)|个月)`, 'gu'),
    read: ({ n, unit }, out) => out.lastDays(chineseNumber(n) * (unit === '天' || unit === '日' ? 1 : unit === '个月' ? 30 : 7)),
  },
  {
    examples: ['几周前', '几个月前', '前几个月'],
    pattern: /[几数]个?(?<w>周|星期|礼拜|月)(?:以|之)?前|前[几些]个?(?<w2>周|星期|礼拜|月)/gu,
    read: ({ w, w2 }, out) => out.lastDays((w ?? w2) === '月' ? 180 : 30),
  },
  {
    examples: ['前几天', '几天前', '前两天', '这几天', '前些天', '前阵子', '好几天前'],
    pattern: /前[几些两]天|[几数]天(?:以|之)?前|这[几些两]天|前(?:一?阵子|些日子)/gu,
    read: (_, out) => out.lastDays(LOOSE_DAYS),
  },
  {
    examples: ['3天前', '十天以前', '两天之前', '100天前', '三日前'],
    pattern: new RegExp(`(?<![\\d一二三四五六七八九十])(?<n>\\d{3}|${N}) ?[天日]${AGO}`, 'gu'),
    read: ({ n }, out) => out.daysBack(chineseNumber(n)),
  },
  {
    // "Three days later" counts from something else: read as no date, so that 后天 is not found in it.
    examples: ['三天后', '3天以后', '五天之后'],
    pattern: new RegExp(`${N} ?天(?:以|之)?后`, 'gu'),
    read: () => true,
  },
  {
    examples: ['大前天', '前天', '昨天', '昨晚', '昨日', '昨夜', '明天', '明早', '后天', '大后天'],
    pattern: /(?<![以之目今年月周先午雨])(?<p>大前|前|大后|后)天(?!天)|(?<q>昨|明)(?:天|日|晚|夜|早|晨)/gu,
    read: ({ p, q }, out) => out.daysBack(back(DAYS_BACK, p ?? q)),
  },
  {
    // Today is said in passing ("what shall I eat today"): a loose window, not the strong boost of a day.
    examples: ['今天', '今日', '今晚', '今早', '今晨'],
    pattern: /今(?:天|日|晚|夜|早|晨)(?!头条)/gu,
    read: (_, out) => out.lastDays(0),
  },
  {
    examples: ['去年夏天', '2023年冬季', '今年春天', '前年秋天'],
    pattern: new RegExp(
      `(?:(?<y>${YEAR}|[〇零一二三四五六七八九]{4}) ?年的? ?|(?<ry>大?前年|去年|今年|明年)的? ?)(?<s>[春夏秋冬])[天季]`,
      'gu',
    ),
    read: (groups, out) => out.season(yearOf(groups, out) ?? NaN, SEASONS[groups.s ?? ''] ?? NaN),
  },
  {
    examples: ['上个夏天', '上一个冬天', '刚过去的春天'],
    pattern: /(?:上(?:一?个|一)|刚过去的)(?<s>[春夏秋冬])[天季]/gu,
    read: ({ s }, out) => out.lastSeason(SEASONS[s ?? ''] ?? NaN),
  },
  {
    examples: ['2023年', '去年', '前年', '今年', '二〇二二年', '明年'],
    pattern: new RegExp(`(?:(?<y>${YEAR}|[〇零一二三四五六七八九]{4}) ?年(?!级|代)|(?<!以)(?<ry>大?前年|去年|今年|本年|明年))`, 'gu'),
    read: (groups, out) => out.wholeYear(yearOf(groups, out) ?? NaN),
  },
  {
    examples: ['三年前', '两年以前', '5年之前'],
    pattern: new RegExp(`(?<![哪某\\d一二三四五六七八九十])(?<n>${N}) ?年${AGO}`, 'gu'),
    read: ({ n }, out) => out.wholeYear(out.year - chineseNumber(n)),
  },
];
