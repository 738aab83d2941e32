/** A text as it is compared: one spelling of widths, quotes, contractions and traditional characters, cut into sentences. */
import { toSimplified } from '../../guard/text/simplified.ts';
import { spelledFlags } from '../../text/signs.ts';

const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
/** Sub- and superscript digits, which NFKC would join to the digits before them: 10² would equal 102. */
const RAISED_DIGIT = /[⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉]+/gu;
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan't\b/giu, 'cannot'],
  [/\bwon't\b/giu, 'will not'],
  [/(?<=[a-z])n't\b/giu, ' not'],
  [/(?<=\bI)'m\b/giu, ' am'],
  [/(?<=\b(?:you|we|they))'re\b/giu, ' are'],
  [/(?<=\b(?:he|she|it|that|there))'s\b/giu, ' is'],
  [/(?<=\b(?:I|you|we|they))'ve\b/giu, ' have'],
  [/(?<=\b(?:I|you|he|she|we|they|it))'ll\b/giu, ' will'],
  [/\bcan not\b/giu, 'cannot'],
];
const SENTENCE_END = /(?<=[.!?])\s+(?=[\p{Lu}\p{N}])|(?<=[。!?;])|[;\n]+/gu;

/** NFKC, simplified characters, straight quotes, single spaces, contractions in full; case is kept. */
export function plainText(text: string): string {
  let plain = spelledFlags(toSimplified(text.replace(RAISED_DIGIT, (digits) => `^${digits}`).normalize('NFKC')))
    .replace(UNSEEN, '')
    .replace(/[’‘]/gu, "'")
    .replace(/[“”「」『』]/gu, '"')
    .replace(/[^\S\n]+/gu, ' ');
  for (const [written, full] of CONTRACTIONS) plain = plain.replace(written, full);
  return plain.trim();
}

/** Sentences of a plain text without their end marks; a question keeps its mark. */
export function sentencesOf(plain: string): readonly string[] {
  return plain
    .split(SENTENCE_END)
    .map((sentence) => sentence.replace(/[\s.!。!,、…]+$/u, '').trim())
    .filter((sentence) => sentence !== '');
}
