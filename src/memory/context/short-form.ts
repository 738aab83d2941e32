/** What stands for a long memory where room is short: its summary, else the passage that answers; memory_context and memory_search share it. Pure. */
import type { HitRecord } from '../../domain/ranking.ts';
import { wordsOf } from '../../ranking/words.ts';
import { splitPassages } from '../../text/passages.ts';
import { head } from '../../text/tokens.ts';

/** How much of a memory is given. */
export type Form = 'whole' | 'summary' | 'passage';

export interface ShortForm {
  readonly form: Form;
  readonly text: string;
}

/**
 * The content where it has at most `most` tokens, else its summary, else of its passages (or of the one that matched) the first of those
 * that hold most words of the question.
 */
export function shortForm(
  { content, summary }: Pick<HitRecord, 'content' | 'summary'>,
  asked: ReadonlySet<string>,
  most: number,
  matched?: string,
): ShortForm {
  const limits = { maxTokens: most, overlapTokens: 0 };
  if (splitPassages(content, limits).length === 0) return { form: 'whole', text: content };
  if (summary !== undefined) return { form: 'summary', text: head(summary, most) };
  const source = matched ?? content;
  const passages = splitPassages(source, limits);
  const held = passages.map(({ text }) => [...wordsOf(text)].filter((word) => asked.has(word)).length);
  return { form: 'passage', text: passages[held.indexOf(Math.max(...held))]?.text ?? head(source, most) };
}
