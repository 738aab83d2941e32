/** The words of a text as ranking compares them in the service: cheap, and without the index's fields. Pure. */
import { fold, stem, TERM } from '../text/analyze.ts';
import { remembered } from '../text/remembered.ts';
import { hasHan } from '../text/script.ts';
import { STOP_WORDS } from '../text/stop-words.ts';

/** About 10 MB of texts of usual length; ten times that if all are Chinese and as long as may be. */
const KEPT = { texts: 4_000, chars: 1_000 };

/**
 * Stems and single Han characters: the `uni` of analyze without its dictionary, which would take most of the time of a ranking. Kept by text:
 * it was the largest single cost of a search in the service, and the same memories are hits of many.
 */
export const wordsOf: (content: string) => ReadonlySet<string> = remembered(readWords, KEPT);

function readWords(content: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [term] of fold(content).matchAll(TERM)) {
    if (hasHan(term)) {
      for (const char of term) words.add(char);
    } else if (!STOP_WORDS.has(term)) words.add(stem(term));
  }
  return words;
}

/** Share of the words of both that both have (Jaccard), 0 to 1; 0 where neither has any. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return common / Math.max(1, a.size + b.size - common);
}
