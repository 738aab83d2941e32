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
/**
 * BM25 of a word in a record of usual length that one in 3,000 records holds (its idf; Elasticsearch keeps the factor k1 + 1). Of the name of
 * somebody who is spoken of all the time it is less, and in an index of a thousand records nothing reaches it. Bench run on dev, LoCoMo (2,760
 * records): 8 costs nothing, 7 .001 of recall@5 and .007 of MRR; at 3, where every name counts, recall@5 falls to .545.
 */
const RARE_SCORE = 8;

/** The words of a question, at most 128 in all, and what follows from its script. */
export interface QueryWords extends QueryTerms {
  readonly codes: readonly string[];
  readonly latin: boolean;
}

/** The words of each wording of a question; they share the room of one. */
export function wordsOf(texts: readonly string[]): readonly QueryWords[] {
  return texts.map((text) => queryWords(text, Math.floor(MAX_TERMS / texts.length)));
}

/** Analyses one text; codes take room from the lightest terms first. */
function queryWords(query: string, most: number): QueryWords {
  const terms = queryTerms(query);
  const found = codes(query).slice(0, MAX_CODES);
  let over = terms.uni.length + terms.bi.length + terms.word.length + terms.names.length + found.length - most;
  const fit = (list: readonly string[]): readonly string[] => {
    const kept = over > 0 ? list.slice(0, Math.max(0, list.length - over)) : list;
    over -= list.length - kept.length;
    return kept;
  };
  const word = fit(terms.word);
  const bi = fit(terms.bi);
  return { word, bi, uni: fit(terms.uni), names: terms.names, codes: found, latin: !hasHan(query) };
}

/**
 * `lex`; [] when the question has no words or words have no weight. Of two wordings the one that a record fits better counts, as `lex_1` and
 * `lex_2` tell: they ask the same, so added up their common words would weigh twice what those of one wording do.
 */
export function lexicalClauses(words: readonly QueryWords[], { profile }: RankContext, summaries: boolean): QueryClause[] {
  const { boosts } = profile;
  const boost = boosts['lexical'] ?? 1;
  const lists = words.map((one) => fieldClauses(one, boosts, summaries));
  if (boost === 0 || lists.every((should) => should.length === 0)) return [];
  const weight = boost === 1 ? {} : { boost };
  const [only = []] = lists;
  if (lists.length === 1) return [{ bool: { _name: 'lex', ...weight, should: only } }];
  const queries = lists.flatMap((should, i) => (should.length === 0 ? [] : [{ bool: { _name: `lex_${i + 1}`, should } }]));
  return [{ dis_max: { _name: 'lex', ...weight, queries } }];
}

/** Without `summaries` there are none to look in. */
function fieldClauses(words: QueryWords, boosts: Readonly<Record<string, number>>, summaries: boolean): QueryClause[] {
  return [
    ...match('lex_uni', words.uni, boosts['uni']),
    ...match('lex_uni', words.names, boosts['names']),
    ...match('lex_bi', words.bi, boosts['bi']),
    ...match('lex_word', words.word, boosts['word']),
    ...(words.latin ? match('lex_context', words.uni, boosts['context']) : []),
    ...(summaries ? match('lex_summary', [...words.uni, ...words.bi], boosts['summary']) : []),
    ...(boosts['codes'] === 0 ? [] : words.codes.map((value) => ({ term: { codes: { value, boost: boosts['codes'] ?? 1 } } }))),
  ];
}

/** Does a record share any word with the question? Unscored, for the clause of records whose vector is due. */
export function anyWord(words: readonly QueryWords[]): QueryClause | undefined {
  const [uni, bi, found] = [union(words, 'uni'), union(words, 'bi'), union(words, 'codes')];
  const should = [...match('lex_uni', uni), ...match('lex_bi', bi), ...(found.length > 0 ? [{ terms: { codes: found } }] : [])];
  return should.length === 0 ? undefined : { bool: { should, minimum_should_match: 1 } };
}

/**
 * `exact`: each code and quoted phrase of the question has its share of one boost, and they add up; of names, and of two wordings, the better
 * one counts.
 */
export function exactClauses({ exactBy, profile }: RankContext): QueryClause[] {
  const lists = exactBy.map((items): ExactList => {
    const named = items.every(({ kind }) => kind === 'name');
    const boost = Math.round(((profile.boosts['exact'] ?? 0) / (named ? 1 : items.length)) * 1e4) / 1e4;
    return { named, clauses: items.map((item) => ({ constant_score: { filter: holds(item), boost } })) };
  });
  if (lists.length === 0) return [];
  const [{ named, clauses } = { named: true, clauses: [] }] = lists;
  if (lists.length === 1 && !named) return [{ bool: { _name: 'exact', should: clauses } }];
  const queries = lists.flatMap((list) => (list.named ? list.clauses : [{ bool: { should: list.clauses } }]));
  return [{ dis_max: { _name: 'exact', queries } }];
}

interface ExactList {
  readonly named: boolean;
  readonly clauses: readonly QueryClause[];
}

/** Does a record hold any of them? */
export function anyExact({ exact }: RankContext): QueryClause {
  return { bool: { should: exact.map(holds), minimum_should_match: 1 } };
}

function holds(item: ExactItem): QueryClause {
  if (item.kind === 'code') return { term: { codes: item.code } };
  const all = (field: string, terms: readonly string[]): QueryClause[] =>
    terms.length === 0 ? [] : [{ match: { [field]: { query: terms.join(' '), operator: 'and' } } }];
  const clauses = [...all('lex_uni', item.uni), ...all('lex_bi', item.bi)];
  if (item.kind === 'phrase') return { bool: { filter: clauses } };
  // all of its terms, of which the rarest says how rare the name is
  const terms = [...item.uni.map((term) => match('lex_uni', [term])), ...item.bi.map((term) => match('lex_bi', [term]))].flat();
  const [only] = terms.length === 1 ? terms : [];
  return {
    function_score: { query: only ?? { bool: { filter: clauses, must: [{ dis_max: { queries: terms } }] } }, min_score: RARE_SCORE },
  };
}

/** `spk`: the question names the record's subject. */
export function speakerClauses(words: readonly QueryWords[], context: RankContext): QueryClause[] {
  const boost = engineWeight(context, 'speaker');
  const [filter] = match('lex_subject', [...union(words, 'uni'), ...union(words, 'bi')]);
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

function union(words: readonly QueryWords[], list: 'uni' | 'bi' | 'codes'): readonly string[] {
  return [...new Set(words.flatMap((one) => one[list]))];
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
