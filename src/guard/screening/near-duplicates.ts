/** Tells texts that say the same from texts that merely look alike; the screen of a search shows one of the former and holds back crowds of the latter. */
import { sameWordsForm } from '../../text/clean.ts';
import { remembered } from '../../text/remembered.ts';
import { signIn, spelledFlags } from '../../text/signs.ts';

/** Words that never change what is said: articles, courtesies, particles. Prepositions, tenses, negations and question marks do. */
const SILENT: ReadonlySet<string> = new Set('a an the please kindly 的 请 啊 呀 呢 吧 哦 嗯'.split(' '));
/** A number with its separators, a word, a Han character, or a mark, of which those that say nothing are left out. */
const TOKENS =
  /\p{N}+(?:[.,:/-]\p{N}+)*|\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{M}_])[\p{L}\p{M}\p{N}_'-]*?(?=\p{Script=Han}|[^\p{L}\p{M}\p{N}_'-]|$)|[\p{S}\p{P}]/gu;
const MARK = /^[\p{S}\p{P}]$/u;
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
const SHINGLE = 3;
/** About 10 MB of texts of usual length; ten times that if all are Chinese and as long as may be. */
const KEPT = { texts: 2_000, chars: 1_000 };

/**
 * The words of a text in their order, folded (NFKC, invisible characters, case where it says nothing), numbers whole, with the signs that
 * tell texts apart when memories are merged (text/signs, text/case), and without words that say nothing.
 */
export const wordsOf: (text: string) => readonly string[] = remembered(readWords, KEPT);

function readWords(text: string): readonly string[] {
  const folded = sameWordsForm(spelledFlags(text).replace(UNSEEN, '')).replaceAll('’', "'");
  const words: string[] = [];
  for (const { 0: token, index } of folded.matchAll(TOKENS)) {
    const word = MARK.test(token) ? signIn(folded, index).sign : token;
    if (word !== undefined && !SILENT.has(word)) words.push(word);
  }
  // a question is one, whatever stands around its mark and however often
  while (words.at(-1) === '?') words.pop();
  if (/[?？][\s"'”’」』)]{0,64}$/u.test(text)) words.push('?');
  return words;
}

/** Equal for texts that say the same in the same words: they differ in the case of ordinary words, width, punctuation, articles and courtesies alone. */
export function claimKey(words: readonly string[]): string {
  return words.join(' ');
}

/** 1 for ASCII letters that no silent word has, and for figures. */
const TELLING = Uint8Array.from({ length: 128 }, (_, code) => ('bcfgjmoqruvwxz0123456789'.includes(String.fromCharCode(code)) ? 1 : 0));
const SILENT_HAN = new Set([...SILENT].filter((word) => word.length === 1).map((char) => char.charCodeAt(0)));
/** ASCII, Han, and the punctuation and full-width forms written beside it: what needs no folding to be counted. */
const PLAIN = /^[\t\n\r -~\u2018-\u201d\u2026\u3000-\u303f\u3400-\u9fff\uff01-\uff5e]*$/;

/** A number that near-duplicates share and few other texts do: over the letters, figures and Han characters that say something. 2 KB take 10 µs. */
export function signatureOf(text: string): number {
  const plain = PLAIN.test(text) ? text : text.normalize('NFKC').replace(UNSEEN, '');
  let sum = 0;
  for (let i = 0; i < plain.length; i += 1) {
    let code = plain.charCodeAt(i);
    if (code >= 0xff01 && code <= 0xff5e) code -= 0xfee0;
    if (code >= 0x41 && code <= 0x5a) code += 0x20;
    if (code < 0x80 ? TELLING[code] === 1 : code >= 0x3400 && code <= 0x9fff && !SILENT_HAN.has(code))
      sum = (sum + Math.imul(code, 0x9e3779b1)) | 0;
  }
  return sum;
}

/** Runs of three words, each once; one run of all words for a shorter text. */
export function shinglesOf(words: readonly string[]): ReadonlySet<string> {
  const shingles = new Set<string>();
  for (let at = 0; at < Math.max(1, words.length - SHINGLE + 1); at += 1) shingles.add(words.slice(at, at + SHINGLE).join(' '));
  return shingles;
}

/** Jaccard overlap of two sets of shingles, 0..1. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const shingle of a) if (b.has(shingle)) common += 1;
  return common / (a.size + b.size - common);
}
