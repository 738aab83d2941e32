import { expect } from 'chai';
import fc from 'fast-check';
import { parseDates } from '../../../src/ranking/dates.ts';
import type { DateRange, DateRanges } from '../../../src/ranking/dates/collector.ts';
import { CHINESE_RULES } from '../../../src/ranking/dates/chinese.ts';
import { ENGLISH_RULES } from '../../../src/ranking/dates/english.ts';
import { NUMERIC_RULES } from '../../../src/ranking/dates/numeric.ts';

/** A Wednesday. */
const ASKED_AT = Date.parse('2024-05-15T09:30:00Z');
const DAY_MS = 86_400_000;

/** `day:2024-05-02`, `month:2024-03`, `year:2023`, `week:2024-05-06..2024-05-13` (end excluded), parts joined by a space; '' for no date. */
type Case = [question: string, expected: string];

const CHINESE: Case[] = [
  ['我在5月2号买了什么', 'day:2024-05-02'],
  ['5月15日的会议', 'day:2024-05-15'],
  ['5月16日我做了什么', 'day:2023-05-16'],
  ['２０２３年５月７日去了哪里', 'day:2023-05-07'],
  ['2024年3月8日发生了什么', 'day:2024-03-08'],
  ['2024 年 3 月 8 日', 'day:2024-03-08'],
  ['二〇二四年三月八日说了什么', 'day:2024-03-08'],
  ['五月二号吃的什么', 'day:2024-05-02'],
  ['四月二十一日去哪', 'day:2024-04-21'],
  ['十二月廿五日的礼物', 'day:2023-12-25'],
  ['十二月三十一号', 'day:2023-12-31'],
  ['去年5月2号我在哪', 'day:2023-05-02'],
  ['今年1月1日', 'day:2024-01-01'],
  ['2023-05-07那天聊了什么', 'day:2023-05-07'],
  ['2023/5/7的记录', 'day:2023-05-07'],
  ['2023.5.7说过什么', 'day:2023-05-07'],
  ['2月29日', 'day:2024-02-29'],
  ['2023年12月1', 'day:2023-12-01'],
  ['八月28日过生日', 'day:2023-08-28'],
  ['5月1日到5月7日去哪玩了', 'day:2024-05-01..2024-05-08'],
  ['五月一号到三号', 'day:2024-05-01..2024-05-04'],
  ['2023年12月30日至1月2日', 'day:2023-12-30..2024-01-03'],
  ['3月1日到4月20日', 'week:2024-03-01..2024-04-21'],
  ['5月2号和5月4号', 'day:2024-05-02 day:2024-05-04'],
  ['上个月15号', 'day:2024-04-15'],
  ['这个月三号', 'day:2024-05-03'],
  ['本月5日', 'day:2024-05-05'],
  ['上周五干嘛了', 'day:2024-05-10'],
  ['上个星期三说的事', 'day:2024-05-08'],
  ['上上周日', 'day:2024-05-05'],
  ['这周一', 'day:2024-05-13'],
  ['下周五有什么安排', 'day:2024-05-24'],
  ['周一我见了谁', 'day:2024-05-13'],
  ['星期日去了哪里', 'day:2024-05-12'],
  ['昨天晚饭', 'day:2024-05-14'],
  ['昨晚看的电影', 'day:2024-05-14'],
  ['前天去哪了', 'day:2024-05-13'],
  ['大前天呢', 'day:2024-05-12'],
  ['3天前我说过什么', 'day:2024-05-12'],
  ['十天以前', 'day:2024-05-05'],
  ['两天之前', 'day:2024-05-13'],
  ['100天前', 'day:2024-02-05'],
  ['3天前天气怎么样', 'day:2024-05-12'],
  ['明天要做什么', 'day:2024-05-16'],
  ['后天的安排', 'day:2024-05-17'],
  ['上周昨天', 'week:2024-05-06..2024-05-13 day:2024-05-14'],
  ['2024年3月的计划', 'month:2024-03'],
  ['八月去了哪里', 'month:2023-08'],
  ['六月份', 'month:2023-06'],
  ['去年十二月', 'month:2023-12'],
  ['前年3月初', 'month:2022-03'],
  ['十一月底', 'month:2023-11'],
  ['上个月的账单', 'month:2024-04'],
  ['上上个月', 'month:2024-03'],
  ['本月的开销', 'month:2024-05'],
  ['三个月前', 'month:2024-02'],
  ['5个月以前', 'month:2023-12'],
  ['半年前', 'month:2023-11'],
  ['上周聊过什么', 'week:2024-05-06..2024-05-13'],
  ['上上周', 'week:2024-04-29..2024-05-06'],
  ['这个星期', 'week:2024-05-13..2024-05-20'],
  ['两周前', 'week:2024-04-29..2024-05-06'],
  ['3个星期前', 'week:2024-04-22..2024-04-29'],
  ['上周末', 'week:2024-05-10..2024-05-13'],
  ['最近三天', 'week:2024-05-12..2024-05-16'],
  ['前几天', 'week:2024-05-08..2024-05-16'],
  ['今天说了什么', 'week:2024-05-15..2024-05-16'],
  ['2022年', 'year:2022'],
  ['去年夏天', 'year:2023'],
  ['前年', 'year:2022'],
  ['三年前', 'year:2021'],
  ['2月30日', ''],
  ['2023年2月29日', ''],
  ['13月5日', ''],
  ['农历八月十五', ''],
  ['阴历五月初五怎么过', ''],
  ['每周五开会吗', ''],
  ['一周三次健身', ''],
  ['三周一次的例会', ''],
  ['三五天前', ''],
  ['手术三天后', ''],
  ['以前天天跑步', ''],
  ['目前天气', ''],
  ['哪一年前往俄国', ''],
  ['天上月亮', ''],
  ['三楼5号房间', ''],
  ['地址是192.168.1.1', ''],
  ['版本2.3.1', ''],
  ['2007－08年粮食危机', ''],
];

const ENGLISH: Case[] = [
  ['On April 27th, how did it go?', 'day:2024-04-27'],
  ['What did I buy on May 2?', 'day:2024-05-02'],
  ['on May 16 what happened', 'day:2023-05-16'],
  ['on 3 June, 2023?', 'day:2023-06-03'],
  ['the 7th of May', 'day:2024-05-07'],
  ['21st March 2024', 'day:2024-03-21'],
  ['Sept. 5', 'day:2023-09-05'],
  ['December 1,2023 taken', 'day:2023-12-01'],
  ['December 1, 2023 taken', 'day:2023-12-01'],
  ['june the 3rd', 'day:2023-06-03'],
  ['march 3rd', 'day:2024-03-03'],
  ['may 7, 2023', 'day:2023-05-07'],
  ['JANUARY 9', 'day:2024-01-09'],
  ['Feb 29', 'day:2024-02-29'],
  ['what did I say on 2023-05-07', 'day:2023-05-07'],
  ['at 2023-05-07T10:00:00Z', 'day:2023-05-07'],
  ['on 5/7/2023', 'day:2023-05-07'],
  ['on 25/12/2023', 'day:2023-12-25'],
  ['on 25.12.2023', 'day:2023-12-25'],
  ['between August 11 and August 15 2023', 'day:2023-08-11..2023-08-16'],
  ['August 11-15, 2023', 'day:2023-08-11..2023-08-16'],
  ['from May 3 to May 7', 'day:2024-05-03..2024-05-08'],
  ['from Dec 30 to Jan 2, 2024', 'day:2023-12-30..2024-01-03'],
  ['11-15 August 2023', 'day:2023-08-11..2023-08-16'],
  ['from March 1 to April 20', 'week:2024-03-01..2024-04-21'],
  ['May 3 and May 7, 2023', 'day:2023-05-03 day:2023-05-07'],
  ['yesterday', 'day:2024-05-14'],
  ['what did we watch last night?', 'day:2024-05-14'],
  ['the day before yesterday', 'day:2024-05-13'],
  ['tomorrow', 'day:2024-05-16'],
  ['the day after tomorrow', 'day:2024-05-17'],
  ['3 days ago', 'day:2024-05-12'],
  ['ten days ago', 'day:2024-05-05'],
  ['a day ago', 'day:2024-05-14'],
  ['a couple of days ago', 'day:2024-05-13'],
  ['last Friday', 'day:2024-05-10'],
  ['on Monday we met', 'day:2024-05-13'],
  ['on Wednesday', 'day:2024-05-08'],
  ['Friday last week', 'day:2024-05-10'],
  ['Monday of last week', 'day:2024-05-06'],
  ['next Friday', 'day:2024-05-17'],
  ['this Tuesday', 'day:2024-05-14'],
  ['in December 2023', 'month:2023-12'],
  ['Dec. 2023', 'month:2023-12'],
  ['Jan 2022', 'month:2022-01'],
  ['march of 2024', 'month:2024-03'],
  ['in June', 'month:2023-06'],
  ['in december', 'month:2023-12'],
  ['since March', 'month:2024-03'],
  ['at the end of August', 'month:2023-08'],
  ['mid-July', 'month:2023-07'],
  ['during May', 'month:2024-05'],
  ['next June', 'month:2024-06'],
  ['2023-05', 'month:2023-05'],
  ['last month', 'month:2024-04'],
  ['this month', 'month:2024-05'],
  ['3 months ago', 'month:2024-02'],
  ['a month ago', 'month:2024-04'],
  ['half a year ago', 'month:2023-11'],
  ['last week', 'week:2024-05-06..2024-05-13'],
  ['this week', 'week:2024-05-13..2024-05-20'],
  ['two weeks ago', 'week:2024-04-29..2024-05-06'],
  ['the week before last', 'week:2024-04-29..2024-05-06'],
  ['last weekend', 'week:2024-05-10..2024-05-13'],
  ['in the past two weeks', 'week:2024-05-01..2024-05-16'],
  ['a few days ago', 'week:2024-05-08..2024-05-16'],
  ['the other day', 'week:2024-05-08..2024-05-16'],
  ['what did I say today', 'week:2024-05-15..2024-05-16'],
  ['in 2023', 'year:2023'],
  ['last year', 'year:2023'],
  ['two years ago', 'year:2022'],
  ['since 2019', 'year:2019'],
  ['In May I ask for what?', 'month:2024-05'],
  ['May I ask you something?', ''],
  ['it may 5 times fail', ''],
  ['we march 3 miles', ''],
  ['Feb 30', ''],
  ['April 31st, 2023', ''],
  ['2023-13-01', ''],
  ['2023-02-30', ''],
  ['version 2.3.1', ''],
  ['v2023.5.7', ''],
  ['ping 192.168.1.1', ''],
  ['pages 10-20', ''],
  ['order INV-2023-05-07', ''],
  ['CVE-2023-1234', ''],
  ['port 2023', ''],
  ['What did April say?', ''],
  ['on Mondays', ''],
  ['the decimal 5', ''],
  ['step 3 of 12', ''],
];

const spell = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The ranges in the spelling of the tables, sorted. */
function spelled({ day, week, month, year }: DateRanges): string {
  const days = day.map(([a, b]) => (b - a === DAY_MS ? `day:${spell(a)}` : `day:${spell(a)}..${spell(b)}`));
  const weeks = week.map(([a, b]) => `week:${spell(a)}..${spell(b)}`);
  const months = month.map(([a]) => `month:${spell(a).slice(0, 7)}`);
  return [...days, ...weeks, ...months, ...year.map(([a]) => `year:${spell(a).slice(0, 4)}`)].sort().join(' ');
}

function allRanges({ recent: _recent, first: _first, ...lists }: DateRanges): DateRange[] {
  return Object.values(lists).flat();
}

describe('parseDates', () => {
  for (const [language, cases] of Object.entries({ Chinese: CHINESE, English: ENGLISH })) {
    describe(`on labelled ${language} expressions`, () => {
      for (const [question, expected] of cases) {
        it(`reads "${question}" as ${expected || 'no date'}`, () => {
          expect(spelled(parseDates(question, ASKED_AT))).to.equal(expected.split(' ').sort().join(' '));
        });
      }
    });
  }

  it('reads every example of every rule', () => {
    for (const rule of [...NUMERIC_RULES, ...CHINESE_RULES, ...ENGLISH_RULES]) {
      for (const example of rule.examples) expect(example.match(rule.pattern), example).to.not.equal(null);
    }
  });

  it('gives the day before and the three days after a day as near', () => {
    expect(parseDates('on 2023-05-07', ASKED_AT).near.map(([a, b]) => `${spell(a)}..${spell(b)}`)).to.deep.equal([
      '2023-05-06..2023-05-07',
      '2023-05-08..2023-05-11',
    ]);
  });

  it('gives the first ten days of the following month beside a month', () => {
    const { month, nextMonth } = parseDates('in December 2023', ASKED_AT);
    expect([...month, ...nextMonth].map(([a, b]) => `${spell(a)}..${spell(b)}`)).to.deep.equal([
      '2023-12-01..2024-01-01',
      '2024-01-01..2024-01-11',
    ]);
  });

  it('gives a day to come nothing near', () => {
    expect(parseDates('明天', ASKED_AT).near).to.deep.equal([]);
  });

  it('takes a date without a year as its last occurrence, leap days too', () => {
    expect(spelled(parseDates('Feb 29', Date.parse('2023-06-01T00:00:00Z')))).to.equal('day:2020-02-29');
  });

  it('knows when the latest is asked for, in both languages', () => {
    for (const q of [
      '我最近在忙什么',
      '最新的地址',
      '目前的工作',
      'What did I read recently?',
      'my latest address',
      'where do I currently live',
    ]) {
      expect(parseDates(q, ASKED_AT).recent, q).to.equal(true);
    }
    for (const q of ['我喜欢什么', '它出现在哪里', 'What do I like?', 'the belatedly found book']) {
      expect(parseDates(q, ASKED_AT).recent, q).to.equal(false);
    }
  });

  it('reads several expressions of one question, each once', () => {
    expect(spelled(parseDates('昨天和上周五，还有2023年3月', ASKED_AT))).to.equal('day:2024-05-10 day:2024-05-14 month:2023-03');
    expect(parseDates('yesterday, yesterday, yesterday', ASKED_AT).day).to.have.length(1);
  });

  it('reads only the first 1,000 characters', () => {
    expect(spelled(parseDates(`${'x '.repeat(500)}yesterday`, ASKED_AT))).to.equal('');
    expect(spelled(parseDates(`yesterday${' x'.repeat(500_000)}`, ASKED_AT))).to.equal('day:2024-05-14');
  });

  it('bounds the ranges of a question made of dates', () => {
    const question = Array.from({ length: 90 }, (_, i) => `2023-01-${String((i % 28) + 1).padStart(2, '0')}`).join(' ');
    expect(parseDates(question, ASKED_AT).day).to.have.length(16);
  });

  it('gives no ranges for a moment that is no time', () => {
    expect(allRanges(parseDates('yesterday', NaN))).to.deep.equal([]);
  });

  it('never throws and gives only ordered, finite ranges, for any string and for strings of date parts', () => {
    const parts = fc.constantFrom(
      '5',
      '31',
      '2023',
      '月',
      '日',
      '年',
      '-',
      '/',
      '.',
      ' ',
      '上',
      '个',
      '周',
      '前',
      '天',
      '十',
      '二',
      'May',
      'ago',
      'last',
      'week',
      '到',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.array(parts, { maxLength: 60 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 4_000_000_000_000 }), (question, askedAt) => {
        for (const [gte, lt] of allRanges(parseDates(question, askedAt))) {
          expect(Number.isInteger(gte) && Number.isInteger(lt) && gte < lt).to.equal(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
