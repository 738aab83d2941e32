/** A text as admission reads it: plain spelling, cut into sentences, and a sentence into clauses. Pure. */
import { toSimplified } from '../../guard/text/simplified.ts';
import { hasHan } from '../../text/script.ts';

/** A long text shows in its first sentences what it is; a sentence in its first characters. */
const MAX_SENTENCES = 48;
const MAX_SENTENCE_CHARS = 400;
/** What is looked at of a text, in UTF-16 units. */
const MAX_CHARS = 12_000;

/** Ends of sentences: marks of both scripts and line breaks; those of ASCII only before white space or Han, so that 2.3.1 and ?t=1 stay whole. */
const SENTENCE_END = /(?<=[。！？；…])(?!["”’」』）)!?！？。…])|(?<=[.!?]["”’)]?)(?=\s)|(?<=[!?])(?=\p{Script=Han})|\n+/u;
const PICTURES = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\u200d\ufe0f]+/gu;
/** The same typed: ^_^ and (y) anywhere, :) where no word goes on. */
const TYPED_PICTURES = /\^[_.-]?\^|\(y\)|(?<![\p{L}\p{N}_])(?:[:;]['-]?[)(DPp]|<3|[TtQ][_A][TtQ]|[xX]D|orz)(?![\p{L}\p{N}_])/gu;
const CLAUSE_END =
  /[,，;；:：、]\s*|\s[–—-]\s|——|\s(?=(?:since|because|given that|considering|but|as (?:i|we|my)|and (?:i|we|my|our)|so that|though|although)\b)|(?=因为|由于|毕竟|但是|不过|所以|而且|考虑到|鉴于)/u;

/** One sentence, in its own case and in lower case. */
export interface Sentence {
  readonly cased: string;
  readonly text: string;
}

export function sentenceOf(cased: string): Sentence {
  return { cased, text: cased.toLowerCase() };
}

/** NFKC, simplified Chinese, straight apostrophes, no pictures, drawn or typed, then cut. Empty pieces are left out. */
export function sentencesOf(text: string): readonly Sentence[] {
  const plain = text.slice(0, MAX_CHARS).normalize('NFKC').replace(/[’‘]/gu, "'").replace(PICTURES, ' ').replace(TYPED_PICTURES, ' ');
  const simplified = hasHan(plain) ? toSimplified(plain) : plain;
  const sentences: Sentence[] = [];
  for (const piece of simplified.split(SENTENCE_END)) {
    const cased = piece.replace(/\s+/gu, ' ').trim().slice(0, MAX_SENTENCE_CHARS);
    if (cased !== '') sentences.push(sentenceOf(cased));
    if (sentences.length === MAX_SENTENCES) break;
  }
  return sentences;
}

/** The clauses of a sentence, marks off. */
export function clausesOf({ cased }: Sentence): readonly Sentence[] {
  return cased
    .split(CLAUSE_END)
    .map((piece) => piece.replace(/[\s.。!！?？~～]+$/u, '').trim())
    .filter((piece) => piece !== '')
    .map(sentenceOf);
}
