/** The texts of a record that get vectors: the record in its context, and each passage of a long one. */
import type { MemoryRecord } from '../domain/memory.ts';
import { withSubject } from '../text/subject.ts';
import { head } from '../text/tokens.ts';

/** The record's own vector covers this much of the content; the rest is covered by passages (product.md, text). */
const CONTENT_TOKENS = 400;
/** Of the turn before: enough to say what the turn answers, without pushing its own words out of the 512 tokens a model reads. */
const CONTEXT_TOKENS = 100;

type Texts = Pick<MemoryRecord, 'content' | 'title' | 'subject' | 'passages'>;

/** First the record's own text (previous turn, title, subject and content), then its passages in order. */
export function textsToEmbed(record: Texts, previous: Pick<MemoryRecord, 'content' | 'subject'> | undefined): readonly string[] {
  const own = [
    ...(previous === undefined ? [] : [head(withSubject(previous.subject, previous.content), CONTEXT_TOKENS)]),
    ...(record.title === undefined ? [] : [record.title]),
    head(withSubject(record.subject, record.content), CONTENT_TOKENS),
  ];
  return [own.join('\n'), ...(record.passages ?? []).map((passage) => passage.text)];
}
