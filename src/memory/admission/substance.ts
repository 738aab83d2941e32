/** How much a sentence says beyond the words that any talk is made of; rules of admission keep a plain statement by it. Pure. */

/** Words of any talk, made ready. */
export interface CommonWords {
  readonly words: ReadonlySet<string>;
  /** Han runs, longest first. */
  readonly han: RegExp;
}

const HAN = /\p{Script=Han}/gu;
const WORD = /[\p{Script=Latin}\p{N}][\p{Script=Latin}\p{N}'.-]*/gu;
/** Endings of English that leave a word the same one. */
const ENDING = /(?:'s|s'|'[a-z]+|ied|ies|es|s|ed|d|ing|ly|er)$/u;
/** Two characters make a word of Chinese. */
const HAN_PER_WORD = 2;

/** Splits the policy's list by script. */
export function commonWords(listed: readonly string[]): CommonWords {
  const han = listed.filter((word) => word.search(HAN) >= 0).sort((a, b) => b.length - a.length);
  return { words: new Set(listed.filter((word) => word.search(HAN) < 0)), han: new RegExp(han.join('|') || '(?!)', 'gu') };
}

/** Words of a lower-case sentence that are no common ones, each counted once; Han characters count half a word each, rounded down. */
export function substanceOf(text: string, common: CommonWords): number {
  const words = new Set((text.match(WORD) ?? []).map((word) => word.replace(/[.'-]+$/u, '')).filter((word) => !isCommon(word, common)));
  const left = text.replace(common.han, ' ').match(HAN) ?? [];
  return words.size + Math.ceil(left.length / HAN_PER_WORD);
}

function isCommon(word: string, { words }: CommonWords): boolean {
  if (word === '' || words.has(word)) return true;
  const stem = word.replace(ENDING, '');
  if (stem === word || stem.length < 2) return false;
  // stopped is stop, tablets are no table
  const single = /(\p{L})\1$/u.test(stem) ? stem.slice(0, -1) : stem;
  return [stem, `${stem}e`, `${stem}y`, single].some((form) => form.length > 1 && words.has(form));
}
