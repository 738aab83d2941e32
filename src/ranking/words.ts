/** The words of a text as ranking compares them in the service: cheap, and without the index's fields. Pure. */
import { fold, stem, TERM } from '../text/analyze.ts';
import { hasHan } from '../text/script.ts';
import { STOP_WORDS } from '../text/stop-words.ts';

/** Stems and single Han characters: the `uni` of analyze without its dictionary, which would take most of the time of a ranking. */
export function wordsOf(content: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [term] of fold(content).matchAll(TERM)) {
    if (hasHan(term)) {
      for (const char of term) words.add(char);
    } else if (!STOP_WORDS.has(term)) words.add(stem(term));
  }
  return words;
}
