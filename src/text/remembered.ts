/** Keeps what a pure function made of a text: the same question is asked again, and the same memories are ranked and screened for many. */

export interface Room {
  /** Texts kept at most; the least recently used half goes at once. */
  readonly texts: number;
  /** A longer text is read each time. */
  readonly chars: number;
}

/**
 * `make` with what it made of recent texts. The callers of all of them share one value, so it must be one that nobody changes. Two
 * generations instead of a list of uses: a hit costs one look-up, and what is used moves to the younger one.
 */
export function remembered<T extends object | string>(make: (text: string) => T, { texts, chars }: Room): (text: string) => T {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return (text) => {
    if (text.length > chars) return make(text);
    const known = young.get(text);
    if (known !== undefined) return known;
    const value = old.get(text) ?? make(text);
    if (young.size >= texts / 2) [old, young] = [young, new Map<string, T>()];
    young.set(text, value);
    return value;
  };
}
