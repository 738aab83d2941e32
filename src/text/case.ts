/** Which words mean something else in other letters: `dQw4w9WgXcQ` is not `dqw4w9wgxcq`. Used wherever two texts are called the same. */

const PART = /[\p{Lu}\p{Ll}\p{Lt}\p{M}\p{N}_]+/gu;
/** As a sentence, a name or a heading writes any word: rome, Rome, ROME; and several of an abbreviation: PDFs. */
const PLAIN_CASE = /^(?:[^\p{Lu}\p{Lt}]*|[\p{Lu}\p{Lt}][^\p{Lu}\p{Lt}]*|[^\p{Ll}]*|\p{Lu}{2,}s)$/u;

/** Whether a word mixes its letters inside, or has digits among them, so that its case is a part of it. */
export function hasOwnCase(word: string): boolean {
  for (const [part] of word.matchAll(PART)) {
    if (!PLAIN_CASE.test(part)) return true;
    if (/\p{Lu}/u.test(part) && /\p{N}/u.test(part)) return true;
  }
  return false;
}

/** Lower case, but for the words whose case is a part of them. Idempotent. */
export function foldCase(text: string): string {
  return text.replace(PART, (word) => (hasOwnCase(word) ? word : word.toLowerCase()));
}
