/** A sentence as summaries weigh it: its text, where it comes from, and the terms it is compared by. Pure. */
import { analyzeTerms } from '../../text/analyze.ts';
import { isHanTerm } from '../../text/script.ts';

export interface Sentence {
  /** Part of the record's content, to the letter. */
  readonly text: string;
  /** Memories that say it; the first is the one it is quoted from. */
  readonly memoryIds: readonly string[];
  /** When it happened, ms. */
  readonly atMs: number;
  /** Its number within its memory. */
  readonly place: number;
  /** How much its memory counts, before anything is compared; about 0.1 to 1. */
  readonly worth: number;
  readonly terms: readonly string[];
}

/** By time, then by memory and place: one order for equal input, whatever order it came in. */
export function inTime(a: Sentence, b: Sentence): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs;
  const [one = '', other = ''] = [a.memoryIds[0], b.memoryIds[0]];
  return one === other ? a.place - b.place : one < other ? -1 : 1;
}

/** Stems of words and Han bigrams, as the index has them; a lone Han character counts where there is nothing else. */
export function termsOf(text: string): readonly string[] {
  const { uni, bi } = analyzeTerms(text);
  const terms = [...uni.filter((term) => !isHanTerm(term)), ...bi];
  return terms.length > 0 ? terms : uni;
}

const MAX_CHARS = 400;
const CLAUSE_END = /[，,；;、：:]\s*/gu;

/** A sentence that is too long to quote, in parts of whole clauses, else of words; together they are the sentence. Linear. */
export function quotable(sentence: string): readonly string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > MAX_CHARS) {
    const window = rest.slice(0, MAX_CHARS);
    const clause = [...window.matchAll(CLAUSE_END)].at(-1);
    const blank = window.lastIndexOf(' ');
    const at = clause !== undefined && clause.index > 0 ? clause.index + clause[0].length : blank > 0 ? blank + 1 : whole(window);
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at);
  }
  return [...parts, rest.trim()].filter((part) => part !== '');
}

/** Never between the halves of a surrogate pair. */
function whole(window: string): number {
  return /[\uD800-\uDBFF]$/.test(window) ? window.length - 1 : window.length;
}
