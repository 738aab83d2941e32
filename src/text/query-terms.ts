/** The bounded terms of a search question for the lexical clauses of the one query. */
import { analyze, fold, stem, TERM } from './analyze.ts';
import { remembered } from './remembered.ts';
import { hasHan } from './script.ts';
import { STOP_WORDS } from './stop-words.ts';

/** Distinct terms in question order: `uni` and `names` for lex_uni, `bi` for lex_bi, `word` for lex_word. At most 128 in all. */
export interface QueryTerms {
  readonly uni: readonly string[];
  readonly bi: readonly string[];
  readonly word: readonly string[];
  readonly names: readonly string[];
}

const MAX_TERMS = 128;
const MAX_NAMES = 16;
const MAX_WORDS = 32;

/** Of a longer question only the two ends are analysed, as only terms of the ends are kept: 4,000 characters cost 0.7 ms, not 2.8. */
const MAX_END_UNITS = 600;

/** Capitalised in English for reasons other than being a name. */
const NOT_NAMES = new Set(
  (
    'i ok january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct ' +
    'nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun am pm mr mrs ms dr prof'
  ).split(' '),
);
const QUESTION_WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** What may stand between a sentence end and the first word of the next one: quotes, brackets, spaces. */
const SENTENCE_START = /(?:^|(?:(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs))\.|[!?:。\n])["'”’)]{0,16})[\s"'“‘([-]{0,16}$/u;

/**
 * Names in an English question: capitalised words, as written, that do not open a sentence and are not I, months, weekdays or
 * stop words. Empty for a question written all in capitals, where capitals tell nothing. Speaker and name boosts read it
 * (LoCoMo + .04, retrieval.md).
 */
export function capitalisedWords(question: string): string[] {
  const text = question.normalize('NFKC');
  if (!/\p{Ll}/u.test(text)) return [];
  const names: string[] = [];
  for (const match of text.replace(/(?<=\p{L})['’]s(?!\p{L})/gu, '  ').matchAll(QUESTION_WORD)) {
    for (const [word] of match[0].matchAll(TERM)) {
      if (!/^\p{Lu}/u.test(word) || word.length < 2) continue;
      const lower = word.toLowerCase();
      if (NOT_NAMES.has(lower) || STOP_WORDS.has(lower)) continue;
      // Sixteen characters back are enough to see a sentence end, and keep the whole scan linear.
      if (!match[0].startsWith(word) || !SENTENCE_START.test(text.slice(Math.max(0, match.index - 16), match.index))) names.push(word);
    }
  }
  return names;
}

/**
 * The terms a question searches with. A Han run of two or more characters gives bigrams and words only (single-character clauses
 * read nearly every Chinese document: p95 at 100k falls from 37 to 17 ms without them, quality equal); a lone Han character
 * gives itself, a stop character only when the question has nothing else. Of a longer question than 128 terms the first and
 * the last are kept: what is asked stands at either end of a pasted text. Kept by question.
 */
export const queryTerms: (question: string) => QueryTerms = remembered(termsOf, { texts: 1_000, chars: 2 * MAX_END_UNITS });

function termsOf(question: string): QueryTerms {
  const read = question.length > 2 * MAX_END_UNITS ? `${question.slice(0, MAX_END_UNITS)}\n${question.slice(-MAX_END_UNITS)}` : question;
  const tokens = analyze(read);
  const names = keepEnds(distinct(capitalisedWords(read).map((name) => stem(fold(name)))), MAX_NAMES);
  const word = keepEnds(distinct(tokens.word), MAX_WORDS);
  const all = distinct(uniClauses(read, tokens.uni));
  const useful = all.filter((term) => !(hasHan(term) && STOP_WORDS.has(term)));
  const uni = useful.length > 0 || tokens.bi.length > 0 ? useful : all;
  const bi = distinct(tokens.bi);
  const room = MAX_TERMS - names.length - word.length;
  const uniRoom = Math.max(Math.floor(room / 2), room - bi.length);
  const keptUni = keepEnds(uni, uniRoom);
  return { uni: keptUni, bi: keepEnds(bi, room - keptUni.length), word, names };
}

/** The uni tokens of the question without the characters of Han runs that have bigrams. */
function uniClauses(question: string, uni: readonly string[]): string[] {
  const lone = new Set<string>();
  for (const [run] of fold(question).matchAll(/\p{Script=Han}+/gu)) if ([...run.slice(0, 3)].length === 1) lone.add(run);
  return uni.filter((term) => !hasHan(term) || lone.has(term));
}

function distinct(terms: readonly string[]): string[] {
  return [...new Set(terms)];
}

/** At most `limit` terms, the first and the last halves, in order. */
function keepEnds(terms: string[], limit: number): string[] {
  if (terms.length <= limit) return terms;
  const first = Math.ceil(limit / 2);
  return [...terms.slice(0, first), ...terms.slice(terms.length - (limit - first))];
}
