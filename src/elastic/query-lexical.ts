/** The clauses of the one query that read words: the named bool "lex", what has to be there to the letter, the speaker match and the dates. Pure. */
import { isoTime } from '../domain/clock.ts';
import type { QueryClause } from '../domain/scope.ts';
import { engineWeight } from '../ranking/context.ts';
import type { RankContext } from '../ranking/context.ts';
import type { DateRange } from '../ranking/dates/collector.ts';
import { codes } from '../text/codes.ts';
import type { ExactItem } from '../text/exact.ts';
import type { QueryTerms } from '../text/query-terms.ts';
import { queryTerms } from '../text/query-terms.ts';
import { hasHan } from '../text/script.ts';

const MAX_TERMS = 128;
const MAX_CODES = 16;

/** The words of a question, at most 128 in all, and what follows from its script. */
export interface QueryWords extends QueryTerms {
  readonly codes: readonly string[];
  readonly latin: boolean;
}

/** Analyses the question; codes take room from the lightest terms first. */
export function queryWords(query: string): QueryWords {
  const terms = queryTerms(query);
  const found = codes(query).slice(0, MAX_CODES);
  let over = terms.uni.length + terms.bi.length + terms.word.length + terms.names.length + found.length - MAX_TERMS;
  const fit = (list: string[]): string[] => {
    const kept = over > 0 ? list.slice(0, Math.max(0, list.length - over)) : list;
    over -= list.length - kept.length;
    return kept;
  };
  const word = fit(terms.word);
  const bi = fit(terms.bi);
  return { word, bi, uni: fit(terms.uni), names: terms.names, codes: found, latin: !hasHan(query) };
}

/** `lex`; [] when the question has no words or words have no weight. */
export function lexicalClauses(words: QueryWords, { profile }: RankContext): QueryClause[] {
  const { boosts } = profile;
  const should = [
    ...match('lex_uni', words.uni, boosts['uni']),
    ...match('lex_uni', words.names, boosts['names']),
    ...match('lex_bi', words.bi, boosts['bi']),
    ...match('lex_word', words.word, boosts['word']),
    ...(words.latin ? match('lex_context', words.uni, boosts['context']) : []),
    ...match('lex_summary', [...words.uni, ...words.bi], boosts['summary']),
    ...(boosts['codes'] === 0 ? [] : words.codes.map((value) => ({ term: { codes: { value, boost: boosts['codes'] ?? 1 } } }))),
  ];
  const boost = boosts['lexical'] ?? 1;
  return should.length === 0 || boost === 0 ? [] : [{ bool: { _name: 'lex', ...(boost === 1 ? {} : { boost }), should } }];
}

/** Does a record share any word with the question? Unscored, for the clause of records whose vector is due. */
export function anyWord(words: QueryWords): QueryClause | undefined {
  const should = [
    ...match('lex_uni', words.uni),
    ...match('lex_bi', words.bi),
    ...(words.codes.length > 0 ? [{ terms: { codes: words.codes } }] : []),
  ];
  return should.length === 0 ? undefined : { bool: { should, minimum_should_match: 1 } };
}

/** `exact`: each code and quoted phrase of the question has its share of one boost, and they add up. */
export function exactClauses({ exact, profile }: RankContext): QueryClause[] {
  if (exact.length === 0) return [];
  const boost = Math.round(((profile.boosts['exact'] ?? 0) / exact.length) * 1e4) / 1e4;
  return [{ bool: { _name: 'exact', should: exact.map((item) => ({ constant_score: { filter: holds(item), boost } })) } }];
}

/** Does a record hold any of them? */
export function anyExact({ exact }: RankContext): QueryClause {
  return { bool: { should: exact.map(holds), minimum_should_match: 1 } };
}

function holds(item: ExactItem): QueryClause {
  if (item.kind === 'code') return { term: { codes: item.code } };
  const all = (field: string, terms: readonly string[]): QueryClause[] =>
    terms.length === 0 ? [] : [{ match: { [field]: { query: terms.join(' '), operator: 'and' } } }];
  return { bool: { filter: [...all('lex_uni', item.uni), ...all('lex_bi', item.bi)] } };
}

/** `spk`: the question names the record's subject. */
export function speakerClauses(words: QueryWords, context: RankContext): QueryClause[] {
  const boost = engineWeight(context, 'speaker');
  const [filter] = match('lex_subject', [...words.uni, ...words.bi]);
  return filter === undefined || boost === 0 ? [] : [{ constant_score: { _name: 'spk', filter, boost } }];
}

/** `date`: one constant for each precision the question uses; they add up. */
export function dateClauses(context: RankContext): QueryClause[] {
  const { dates, profile } = context;
  const unit = engineWeight(context, 'date');
  const should = [
    ...within(dates.day, profile.boosts['date_day'], unit),
    ...within(dates.near, profile.boosts['date_near'], unit),
    ...within(dates.month, profile.boosts['date_month'], unit),
    ...within(dates.nextMonth, profile.boosts['date_next_month'], unit),
    ...within(dates.week, profile.boosts['date_week'], unit),
    ...within(dates.year, profile.boosts['date_year'], unit),
  ];
  return should.length === 0 ? [] : [{ bool: { _name: 'date', should } }];
}

function match(field: string, terms: readonly string[], boost?: number): QueryClause[] {
  if (terms.length === 0 || boost === 0) return [];
  const query = terms.join(' ');
  return [{ match: { [field]: boost === undefined || boost === 1 ? { query } : { query, boost } } }];
}

function within(ranges: readonly DateRange[], share: number | undefined, unit: number): QueryClause[] {
  const boost = Math.round((share ?? 0) * unit * 1e4) / 1e4;
  if (ranges.length === 0 || boost === 0) return [];
  const should = ranges.map(([gteMs, ltMs]) => ({ range: { event_at: { gte: isoTime(gteMs), lt: isoTime(ltMs) } } }));
  return [{ constant_score: { filter: { bool: { should } }, boost } }];
}
