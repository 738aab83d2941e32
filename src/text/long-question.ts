/** Questions of several sentences: what is asked stands last, the others tell why. Read by the query vector and by the ranking. */

/** At two sentences nothing is won (retrieval.md). */
const LONG_QUESTION_SENTENCES = 3;
/** A dot within a version, an address or a number ends nothing. */
const SENTENCE_END = /(?<=[.!?])\s+|(?<=[。！？])\s*/u;

/** The last sentence of a question of three or more; undefined for a shorter one. */
export function lastSentenceOf(query: string): string | undefined {
  const sentences = query.split(SENTENCE_END).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  return sentences.length < LONG_QUESTION_SENTENCES ? undefined : sentences.at(-1)?.trim();
}
