import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDates } from '../../../src/ranking/dates.ts';
import type { DateRange, DateRanges } from '../../../src/ranking/dates/collector.ts';
import { CHINESE_RULES } from '../../../src/ranking/dates/chinese.ts';
import { ENGLISH_RULES } from '../../../src/ranking/dates/english.ts';
import { NUMERIC_RULES } from '../../../src/ranking/dates/numeric.ts';

/** A Wednesday. */
const ASKED_AT = Date.parse('2024-05-15T09:30:00Z');
const DAY_MS = 86_400_000;

/** `day:2024-05-02`, `month:2024-03`, `year:2023`, `week:2024-05-06..2024-05-13` (end excluded), parts joined by a space; '' for no date. */
interface Case {
  readonly question: string;
  readonly expected: string;
}

/** The labelled expressions of a language. */
function cases(language: 'zh' | 'en'): readonly Case[] {
  const lines = readFileSync(join(import.meta.dirname, 'date-rows.txt'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [of, question = '', expected = ''] = line.split('\t');
    return of === language ? [{ question, expected }] : [];
  });
}

/** From a first of the month to the next. */
function isMonth(from: number, to: number): boolean {
  const start = new Date(from);
  return start.getUTCDate() === 1 && Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1) === to;
}

const spell = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The ranges in the spelling of the tables, sorted. */
function spelled({ day, week, month, year }: DateRanges): string {
  const days = day.map(([a, b]) => (b - a === DAY_MS ? `day:${spell(a)}` : `day:${spell(a)}..${spell(b)}`));
  const weeks = week.map(([a, b]) => `week:${spell(a)}..${spell(b)}`);
  const months = month.map(([a, b]) => (isMonth(a, b) ? `month:${spell(a).slice(0, 7)}` : `month:${spell(a)}..${spell(b)}`));
  return [...days, ...weeks, ...months, ...year.map(([a]) => `year:${spell(a).slice(0, 4)}`)].sort().join(' ');
}

function allRanges({ recent: _recent, first: _first, ...lists }: DateRanges): DateRange[] {
  return Object.values(lists).flat();
}

describe('parseDates', () => {
  for (const language of ['zh', 'en'] as const) {
    describe(`on labelled expressions (${language})`, () => {
      it('of which there are at least 200', () => {
        expect(new Set(cases(language).map(({ question }) => question)).size).to.be.at.least(200);
      });

      for (const { question, expected } of cases(language)) {
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
