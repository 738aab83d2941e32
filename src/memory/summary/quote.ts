/** Chosen sentences as their reader may see them: each through the guard's screen as a text of its memory, in the envelope where that is reference only. */
import { isoTime } from '../../domain/clock.ts';
import type { MemoryRecord, StoredRecord } from '../../domain/memory.ts';
import { mapUnscreened, type Scoped, type Unscreened } from '../../domain/sealed.ts';
import { tierName } from '../../domain/trust.ts';
import type { SummarizeAnswer } from '../../domain/wire/summary.ts';
import type { MemoryDeps } from '../deps.ts';
import type { Sentence } from './sentence.ts';

export type ShownSentence = SummarizeAnswer['sentences'][number];

/** A sentence that was let through, with what it was before the screen. */
export interface Quote {
  readonly sentence: Sentence;
  readonly shown: ShownSentence;
}

/** `found`: the memories, read by `by`. A sentence that its memory does not hold any more is left out. */
export async function quoteSentences(
  deps: Pick<MemoryDeps, 'guard'>,
  sentences: readonly Sentence[],
  found: Unscreened<readonly StoredRecord[]>,
  by: Scoped<unknown>,
): Promise<readonly Quote[]> {
  const quotes: Quote[] = [];
  const boundary = deps.guard.boundary();
  for (const sentence of sentences) {
    const [id] = sentence.memoryIds;
    const alone = mapUnscreened(found, (stored) => {
      const source = stored.find(({ record }) => record.memory_id === id)?.record;
      return source?.content.includes(sentence.text) === true ? [{ ...source, content: sentence.text }] : [];
    });
    const shown = await screened(deps, alone, by, sentence, boundary);
    if (shown !== undefined) quotes.push({ sentence, shown });
  }
  return quotes;
}

/** One sentence as the text of one record; undefined when the screen holds it back. */
export async function screened(
  deps: Pick<MemoryDeps, 'guard'>,
  record: Unscreened<readonly MemoryRecord[]>,
  by: Scoped<unknown>,
  { memoryIds, atMs }: Pick<Sentence, 'memoryIds' | 'atMs'>,
  boundary: string,
): Promise<ShownSentence | undefined> {
  const { items } = await deps.guard.screenRecords(record, by, { prompt: true, boundary, lineOf: ({ content }) => content });
  const [item] = items;
  if (item?.line === undefined) return undefined;
  return {
    text: item.line,
    memory_ids: [...memoryIds],
    at: isoTime(atMs),
    trust: tierName(item.trust.tier),
    reference_only: item.referenceOnly,
  };
}
