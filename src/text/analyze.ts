/** The one text analysis: the tokens that go into the whitespace-analysed fields on write and into their clauses on search, the same on every cluster. */
import { stemmer } from 'stemmer';
import { isHanTerm } from './script.ts';
import { STOP_WORDS } from './stop-words.ts';

/** Tokens in text order, repeats kept: `uni` for lex_uni, `bi` for lex_bi, `word` for lex_word. */
export interface LexicalTokens {
  uni: string[];
  bi: string[];
  word: string[];
}

/** A run of Han, or a word of any other script; marks (vowel signs, accents left after NFKC) belong to the word. */
export const TERM = /\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}\p{M}])+/gu;
/** The tail of a possessive or contraction: `Caroline's`, `I'll`. A letter by itself would be a token in half of all texts. */
const APOSTROPHE_TAIL = /(?<=\p{L})['’](?:s|d|m|t|ll|re|ve)(?![\p{L}\p{N}])/gu;
const ENGLISH_WORD = /^[a-z]{3,40}$/;
/** Lucene's whitespace tokenizer splits at 255; a longer token is a blob, and its beginning is enough to find it by. */
const MAX_TERM_UNITS = 128;
/** Intl.Segmenter takes quadratic time in the length of its input (2 KB 1.4 ms, 20 KB 60 ms, 100 KB 10 s), so it gets chunks. */
const SEGMENT_CHUNK_UNITS = 256;

/** Loading the dictionary is slow, so one instance serves all texts; it keeps no state between them. */
const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** NFKC and lower case: full-width letters and digits equal the plain ones. */
export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/**
 * The lexical tokens of a text, measured best of seven variants on six Chinese and English sets (retrieval.md, text analysis):
 * English words stemmed (Porter) without stop words, single Han characters and words of other scripts in `uni`; Han bigrams in
 * `bi`; dictionary words of two or more Han characters in `word`. Never throws; linear in the text.
 */
export function analyze(text: string): LexicalTokens {
  const { uni, bi, runs } = termsOf(text);
  return { uni, bi, word: hanWords(runs) };
}

/** `uni` and `bi` of `analyze` alone: without the dictionary a Chinese text costs a third. */
export function analyzeTerms(text: string): Pick<LexicalTokens, 'uni' | 'bi'> {
  const { uni, bi } = termsOf(text);
  return { uni, bi };
}

/** Also the Han runs themselves, in text order. */
function termsOf(text: string): { uni: string[]; bi: string[]; runs: readonly string[] } {
  const uni: string[] = [];
  const bi: string[] = [];
  const runs: string[] = [];
  for (const term of foldedTerms(text)) {
    if (!isHanTerm(term)) {
      if (!STOP_WORDS.has(term)) uni.push(stem(term));
      continue;
    }
    runs.push(term);
    let previous = '';
    for (const char of term) {
      uni.push(char);
      if (previous !== '') bi.push(previous + char);
      previous = char;
    }
  }
  return { uni, bi, runs };
}

/** Folding changes nothing of ASCII but its case, and its terms are plain to see. */
const PLAIN_ASCII = /^[\x00-\x7f]*$/;
const ASCII_TERM = /[a-z0-9]+/g;

function foldedTerms(text: string): readonly string[] {
  const ascii = PLAIN_ASCII.test(text);
  const folded = ascii ? text.toLowerCase() : fold(text);
  const untailed = folded.includes("'") || folded.includes('’') ? folded.replace(APOSTROPHE_TAIL, ' ') : folded;
  return untailed.match(ascii ? ASCII_TERM : TERM) ?? [];
}

/** Porter stem of a folded English word (npm `stemmer`); any other word as it is, shortened when it is a blob. */
export function stem(word: string): string {
  return ENGLISH_WORD.test(word) ? stemmer(word) : cut(word, MAX_TERM_UNITS);
}

/** Dictionary words of two or more Han characters, stop words out. */
function hanWords(runs: readonly string[]): string[] {
  const words: string[] = [];
  for (const chunk of chunks(runs)) {
    for (const { segment } of segmenter.segment(chunk)) {
      // Two units are two characters, except for one character outside the basic plane.
      if (segment.length >= 2 && (segment.codePointAt(0) ?? 0) <= 0xffff && !STOP_WORDS.has(segment)) words.push(segment);
      else if (segment.length >= 3) words.push(segment);
    }
  }
  return words;
}

/** Han runs joined by a space (a word boundary) into chunks the segmenter is fast on; a longer run is divided. */
function* chunks(runs: readonly string[]): Generator<string> {
  let chunk = '';
  for (const run of runs) {
    if (run.length < 2) continue;
    if (chunk.length + run.length >= SEGMENT_CHUNK_UNITS && chunk !== '') {
      yield chunk;
      chunk = '';
    }
    let rest = run;
    while (rest.length > SEGMENT_CHUNK_UNITS) {
      const first = cut(rest, SEGMENT_CHUNK_UNITS);
      yield first;
      rest = rest.slice(first.length);
    }
    chunk += chunk === '' ? rest : ` ${rest}`;
  }
  if (chunk !== '') yield chunk;
}

/** The first `units` UTF-16 units, one fewer where that would divide a surrogate pair. */
function cut(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}
