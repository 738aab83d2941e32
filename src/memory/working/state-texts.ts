/** The texts of a slot taken out of its JSON and put back: the guard's screen changes texts, and a program finds its slots by their names. Pure. */

/** Every string value, in order; names are not among them. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Every name, at any depth. */
export function namesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [...(Array.isArray(value) ? [] : [name]), ...namesIn(part)]);
}

/** The value with its texts replaced, in the order in which `textsIn` gives them. */
export function withTexts(value: unknown, texts: readonly string[]): unknown {
  let next = 0;
  const put = (node: unknown): unknown => {
    if (typeof node === 'string') return texts[next++] ?? '';
    if (Array.isArray(node)) return node.map(put);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, part]) => [name, put(part)]));
  };
  return put(value);
}

/** Names as the words they are, for the guard's rules: `ignore_all_rules` says as much as with spaces. */
export function asWords(names: readonly string[]): string {
  return names.map((name) => name.replace(/[_-]+/g, ' ').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')).join('\n');
}
