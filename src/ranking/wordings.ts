/** The wordings of one question, as it was asked and as it was rewritten: what of either has to be honoured. Read by the query builder, ranking and the service. Pure. */
import type { SearchSpec } from '../domain/ranking.ts';
import type { ExactItem } from '../text/exact.ts';
import { exactItems } from '../text/exact.ts';
import { remembered } from '../text/remembered.ts';
import { parseDates } from './dates.ts';
import type { DateRange, DateRanges } from './dates/collector.ts';

/** One or two texts, the first one first. */
export function wordings({ query, also }: Pick<SearchSpec, 'query' | 'also'>): readonly string[] {
  return also === undefined ? [query] : [query, also];
}

/** The dates of all texts, each range once; a question asks for the latest, or the first, when one of its wordings does. */
export function datesIn(texts: readonly string[], askedAtMs: number): DateRanges {
  const [first, ...others] = texts.map((text) => parseDates(text, askedAtMs));
  const found = first ?? parseDates('', askedAtMs);
  for (const { recent, first: earliest, ...ranges } of others) {
    found.recent ||= recent;
    found.first ||= earliest;
    for (const precision of Object.keys(ranges) as (keyof typeof ranges)[]) found[precision] = united(found[precision], ranges[precision]);
  }
  return found;
}

/** A question is read for its query and again for its screen, and some are asked again and again. */
const exactOf = remembered<readonly ExactItem[]>(exactItems, { texts: 1_000, chars: 1_000 });

/** What has to be found to the letter, by text: at most 8 things each. Texts without any are left out, and those that want the same. */
export function exactIn(texts: readonly string[]): readonly (readonly ExactItem[])[] {
  return distinct(texts.map(exactOf)).filter((items) => items.length > 0);
}

/** Each value once. */
export function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function united(a: DateRange[], b: readonly DateRange[]): DateRange[] {
  return [...a, ...b.filter(([gte, lt]) => !a.some((range) => range[0] === gte && range[1] === lt))];
}
