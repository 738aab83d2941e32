/** SERVICE_SECRET_PREVIOUS read: secrets separated by blanks, or one that holds blanks itself; checked with the variables, handed on by the configuration. */

const MIN_SECRET_CHARS = 32;

/**
 * The secrets of which the text may consist; undefined when one of them is too short to have been a SERVICE_SECRET. Where each word is long
 * enough the whole is among them too, for a secret may itself hold blanks; where no word is, it is one secret.
 */
export function formerSecrets(text: string): readonly string[] | undefined {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const long = words.filter((word) => word.length >= MIN_SECRET_CHARS);
  if (long.length > 0 && long.length < words.length) return undefined;
  if (words.length === 0 || text.length < MIN_SECRET_CHARS) return undefined;
  return [...new Set([text, ...long])];
}
