/** Finds a tail of words that belong to no sentence, as optimised retrieval triggers leave it at the end of a poisoned memory; a rule of the anomaly stage. */
import { STOP_WORDS } from '../../text/stop-words.ts';

/** Text before this many last characters is not part of any suffix. */
const TAIL_CHARS = 400;
const WORD = /^\p{Ll}{3,}$/u;
const SMALL_WORDS: ReadonlySet<string> = new Set(
  'from about over under after before than can could would should may might must will her his him its our out up down too very also'.split(
    ' ',
  ),
);

/**
 * True when the text ends in `words` or more lower-case words in a row without a small word, a mark, a name or a number between them, none
 * of them said before in the text. Languages without spaces have no such tail. Linear; looks at the last 400 characters.
 */
export function hasTriggerSuffix(text: string, words: number): boolean {
  const tail = text
    .slice(-TAIL_CHARS)
    .trim()
    .replace(/[.!?…]{1,400}$/u, '');
  const parts = tail.split(/\s+/u);
  let run = 0;
  while (run < parts.length) {
    const word = parts[parts.length - 1 - run] ?? '';
    if (!WORD.test(word) || STOP_WORDS.has(word) || SMALL_WORDS.has(word)) break;
    run += 1;
  }
  // a text of such words alone is a list, not a memory with a tail
  if (run < words || run === parts.length) return false;
  const said = new Set(parts.slice(0, -run).map((word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')));
  const suffix = parts.slice(-run);
  return new Set(suffix).size === run && !suffix.some((word) => said.has(word));
}
