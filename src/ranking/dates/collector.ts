/** Collects the date ranges of one question relative to the moment it was asked; knows the calendar, not the languages. */
import { festivalIn, lunarDay } from './festivals.ts';

/** `[gteMs, ltMs)`, milliseconds since the epoch, UTC. */
export type DateRange = [gteMs: number, ltMs: number];

/** Ranges by precision; each precision has a boost of its own in the one query. */
export interface DateRanges {
  /** A day, or the days of an explicit span. */
  day: DateRange[];
  /** The day before and the three days after: memories are often written a little off the day they speak of. */
  near: DateRange[];
  /** A month; also the days of a festival whose year is told. */
  month: DateRange[];
  /** The first ten days after a month. */
  nextMonth: DateRange[];
  year: DateRange[];
  /** Weeks, weekends, seasons, festivals and other loose windows of days. */
  week: DateRange[];
  /** The question asks for the latest. */
  recent: boolean;
  /** The question asks for the first conversation. */
  first: boolean;
}

const DAY_MS = 86_400_000;
/** More ranges of one precision than any honest question has; bounds the query's clauses. */
const MAX_RANGES = 16;
const MIN_YEAR = 1900;
const MAX_YEAR = 2100;
/** Longest span read as days; a longer one is a loose window. */
const MAX_SPAN_DAYS = 31;
/** The longest gap between two leap days. */
const LEAP_SEARCH_YEARS = 8;

export class DateCollector {
  readonly ranges: DateRanges = { day: [], near: [], month: [], nextMonth: [], year: [], week: [], recent: false, first: false };
  readonly year: number;
  private readonly nowMs: number;
  private readonly today: number;
  private readonly monthIndex: number;
  private readonly monday: number;
  private readonly weekday: number;

  constructor(nowMs: number) {
    const now = new Date(nowMs);
    this.nowMs = nowMs;
    this.year = now.getUTCFullYear();
    this.monthIndex = now.getUTCMonth();
    this.today = Math.floor(nowMs / DAY_MS) * DAY_MS;
    this.weekday = now.getUTCDay();
    this.monday = this.today - ((this.weekday + 6) % 7) * DAY_MS;
  }

  /** A calendar day; without a year the last one not after now. False when there is no such day. */
  day(year: number | undefined, month: number, day: number): boolean {
    const ms = this.resolve(year, month, day);
    return ms !== undefined && this.dayAt(ms);
  }

  /** The days from one date to another, both included; the year may be known for the last only, or not at all. */
  span(first: DayParts, last: DayParts): boolean {
    const lastYear = last.year ?? first.year;
    const crosses = first.month > last.month;
    const firstYear = first.year ?? (lastYear === undefined ? undefined : crosses ? lastYear - 1 : lastYear);
    const start = this.resolve(firstYear, first.month, first.day);
    if (start === undefined) return false;
    const startYear = new Date(start).getUTCFullYear();
    const end = this.resolve(last.year ?? (crosses ? startYear + 1 : startYear), last.month, last.day);
    if (end === undefined || end < start) return false;
    if (end - start > MAX_SPAN_DAYS * DAY_MS) return this.add('week', start, end + DAY_MS);
    this.add('near', start - DAY_MS, start);
    this.add('near', end + DAY_MS, end + 4 * DAY_MS);
    return this.add('day', start, end + DAY_MS);
  }

  /** The day `days` before today; a negative number is a day to come, which has no days around it. */
  daysBack(days: number): boolean {
    if (!Number.isInteger(days)) return false;
    const start = this.today - days * DAY_MS;
    return days < 0 ? this.add('day', start, start + DAY_MS) : this.dayAt(start);
  }

  /** A calendar month; without a year the last one that began before now. */
  month(year: number | undefined, month: number): boolean {
    const start = this.resolve(year, month, 1);
    if (start === undefined) return false;
    const next = Date.UTC(new Date(start).getUTCFullYear(), month, 1);
    this.add('nextMonth', next, next + 10 * DAY_MS);
    return this.add('month', start, next);
  }

  /** The next such month after this one. */
  nextMonthNamed(month: number): boolean {
    return this.month(month > this.monthIndex + 1 ? this.year : this.year + 1, month);
  }

  /** The month `months` before this one. */
  monthsBack(months: number): boolean {
    const at = this.monthAt(months);
    return at !== undefined && this.month(at.year, at.month);
  }

  /** A day of the month `months` before this one: 上个月15号. */
  dayOfMonthsBack(months: number, day: number): boolean {
    const at = this.monthAt(months);
    return at !== undefined && this.day(at.year, at.month, day);
  }

  /** The week from Monday, `weeks` before this one. */
  weeksBack(weeks: number): boolean {
    const start = this.monday - weeks * 7 * DAY_MS;
    return Number.isInteger(weeks) && this.add('week', start, start + 7 * DAY_MS);
  }

  /** Friday to Sunday of the week `weeks` before this one: weekends are told of from Friday evening. */
  weekendBack(weeks: number): boolean {
    const next = this.monday - (weeks - 1) * 7 * DAY_MS;
    return this.add('week', next - 3 * DAY_MS, next);
  }

  /** A weekday (0 is Sunday) of the week `weeks` before this one. */
  weekdayOfWeek(weeks: number, weekday: number): boolean {
    const start = this.monday + (((weekday + 6) % 7) - 7 * weeks) * DAY_MS;
    return this.daysBack((this.today - start) / DAY_MS);
  }

  /** The last such weekday before today; a week ago when it is today. */
  lastWeekday(weekday: number): boolean {
    return this.daysBack((this.weekday - weekday + 7) % 7 || 7);
  }

  /** The next such weekday after today. */
  nextWeekday(weekday: number): boolean {
    return this.daysBack(-((weekday - this.weekday + 7) % 7 || 7));
  }

  /** The loose window of the last `days` days, today included. */
  lastDays(days: number): boolean {
    return Number.isInteger(days) && this.add('week', this.today - days * DAY_MS, this.today + DAY_MS);
  }

  /** A whole year. */
  wholeYear(year: number): boolean {
    return year >= MIN_YEAR && year <= MAX_YEAR && this.add('year', Date.UTC(year, 0), Date.UTC(year + 1, 0));
  }

  /** A festival with a day on either side. Without a year it is the last one that has begun, and may be spoken of in passing: a loose window. */
  festival(name: string, year: number | undefined): boolean {
    const told = year !== undefined;
    for (let back = 0; back <= 1; back += 1) {
      const days = festivalIn(name, year ?? this.year - back);
      if (days === undefined || (told && !(year >= MIN_YEAR && year <= MAX_YEAR))) return false;
      if (told || days[0] < this.nowMs) return this.add(told ? 'month' : 'week', ...days);
    }
    return false;
  }

  /** The last time that a festival was before now. */
  lastFestival(name: string): boolean {
    const thisYear = festivalIn(name, this.year);
    return this.festival(name, thisYear !== undefined && thisYear[1] <= this.today ? this.year : this.year - 1);
  }

  /** A day of the lunar calendar; without a year the last one not after now. */
  lunar(year: number | undefined, month: number, day: number): boolean {
    for (let back = 0; back <= LEAP_SEARCH_YEARS; back += 1) {
      const ms = lunarDay(year ?? this.year - back, month, day);
      if (ms !== undefined && (year !== undefined || ms <= this.nowMs)) return this.dayAt(ms);
      if (year !== undefined) return false;
    }
    return false;
  }

  /** Three months, of which the first (1 to 12) stands in that year. */
  season(year: number, firstMonth: number): boolean {
    if (!(year >= MIN_YEAR && year <= MAX_YEAR)) return false;
    return this.add('week', Date.UTC(year, firstMonth - 1, 1), Date.UTC(year, firstMonth + 2, 1));
  }

  /** The last such three months that are over. */
  lastSeason(firstMonth: number): boolean {
    const back = [0, 1, 2].find((years) => Date.UTC(this.year - years, firstMonth + 2, 1) <= this.today) ?? 2;
    return this.season(this.year - back, firstMonth);
  }

  private monthAt(months: number): { year: number; month: number } | undefined {
    if (!Number.isInteger(months)) return undefined;
    const at = new Date(Date.UTC(this.year, this.monthIndex - months, 1));
    return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1 };
  }

  private dayAt(start: number): boolean {
    this.add('near', start - DAY_MS, start);
    this.add('near', start + DAY_MS, start + 4 * DAY_MS);
    return this.add('day', start, start + DAY_MS);
  }

  private resolve(year: number | undefined, month: number, day: number): number | undefined {
    if (year !== undefined) return calendarDay(year, month, day);
    for (let back = 0; back <= LEAP_SEARCH_YEARS; back++) {
      const ms = calendarDay(this.year - back, month, day);
      if (ms !== undefined && ms <= this.nowMs) return ms;
    }
    return undefined;
  }

  private add(precision: Exclude<keyof DateRanges, 'recent' | 'first'>, gteMs: number, ltMs: number): boolean {
    const list = this.ranges[precision];
    if (list.length < MAX_RANGES && !list.some((range) => range[0] === gteMs && range[1] === ltMs)) list.push([gteMs, ltMs]);
    return true;
  }
}

/** A day as written. */
export interface DayParts {
  year: number | undefined;
  month: number;
  day: number;
}

/** Start of a day the calendar has, between 1900 and 2100; undefined for 30 February and the like. */
function calendarDay(year: number, month: number, day: number): number | undefined {
  if (!(year >= MIN_YEAR && year <= MAX_YEAR)) return undefined;
  const ms = Date.UTC(year, month - 1, day);
  const date = new Date(ms);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? ms : undefined;
}
