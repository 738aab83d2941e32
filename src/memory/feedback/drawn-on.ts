/** Which memories an answer draws on: told by their words in it, so that "cited" goes to what was used and not to all that came along. Pure. */
import { wordsOf } from '../../ranking/words.ts';
import { codes } from '../../text/codes.ts';

/** Share of a memory's words that the answer holds. */
const MOST_WORDS = 0.5;
const MAX_UNITS = 2_000;

/** A word-by-word answer to one memory; a code or number of it tells as much as half of its words. */
export function drawnOn(content: string, answer: string): boolean {
  const text = content.slice(0, MAX_UNITS);
  const said = new Set(codes(answer));
  if (codes(text).some((code) => said.has(code))) return true;
  const own = [...wordsOf(text)];
  const used = wordsOf(answer);
  return own.length > 0 && own.filter((word) => used.has(word)).length >= MOST_WORDS * own.length;
}
