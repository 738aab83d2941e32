/** What is made from a record's texts: lexical fields, codes, passages, language and fingerprint; the same at write, update and rebuild. */
import type { MemoryRecord } from '../domain/memory.ts';
import { analyze, analyzeTerms } from '../text/analyze.ts';
import { fingerprint } from '../text/clean.ts';
import { bodyOf } from '../text/body.ts';
import { codes } from '../text/codes.ts';
import { splitPassages } from '../text/passages.ts';
import { isHanTerm, language } from '../text/script.ts';
import { withSubject } from '../text/subject.ts';
import { defined } from './canonical.ts';

export type Texts = {
  readonly [K in 'content' | 'title' | 'summary' | 'subject']?: string | undefined;
} & { readonly content: string };

/** Every field derived from the texts; those that would be empty are absent. */
export function textFields(
  texts: Texts,
): Pick<
  MemoryRecord,
  'language' | 'lex_uni' | 'lex_bi' | 'lex_word' | 'lex_context' | 'lex_summary' | 'lex_subject' | 'codes' | 'passages' | 'fingerprint'
> {
  const body = bodyOf(texts);
  const { uni, bi, word } = analyze(withSubject(texts.subject, body));
  const found = codes(body);
  const passages = splitPassages(texts.content).map(({ start, end, text }) => ({ start, end, text }));
  return {
    language: language(body),
    fingerprint: fingerprint(texts.content),
    ...defined({
      lex_uni: joined(uni),
      lex_bi: joined(bi),
      lex_word: joined(word),
      lex_context: joined(latin(uni)),
      lex_summary: tokensOf(texts.summary),
      lex_subject: tokensOf(texts.subject),
      codes: found.length > 0 ? found : undefined,
      passages: passages.length > 0 ? passages : undefined,
    }),
  };
}

/** Made from the texts; those that come out empty must not keep their old value. */
const DERIVED_FIELDS: readonly string[] = [
  'lex_uni',
  'lex_bi',
  'lex_word',
  'lex_context',
  'lex_summary',
  'lex_subject',
  'codes',
  'passages',
];

/** The record without what textFields makes anew. */
export function withoutDerived(record: MemoryRecord): MemoryRecord {
  return Object.fromEntries(Object.entries(record).filter(([field]) => !DERIVED_FIELDS.includes(field))) as unknown as MemoryRecord;
}

/**
 * The context field: stems of the previous turn and of the record itself. Only questions in Latin script read it (retrieval.md, the one
 * query), so Han characters are left out. Undefined when there is nothing in it.
 */
export function contextField(
  record: Pick<Texts, 'content' | 'title' | 'subject'>,
  previous: Pick<Texts, 'content' | 'title' | 'subject'> | undefined,
): string | undefined {
  const stems = (texts: Pick<Texts, 'content' | 'title' | 'subject'>): readonly string[] =>
    analyzeTerms(withSubject(texts.subject, bodyOf(texts))).uni;
  return joined(latin([...(previous === undefined ? [] : stems(previous)), ...stems(record)]));
}

const latin = (tokens: readonly string[]): readonly string[] => tokens.filter((token) => !isHanTerm(token));

const joined = (tokens: readonly string[]): string | undefined => (tokens.length > 0 ? tokens.join(' ') : undefined);

function tokensOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { uni, bi } = analyzeTerms(text);
  return joined([...uni, ...bi]);
}
