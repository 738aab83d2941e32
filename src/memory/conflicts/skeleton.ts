/** Two sentences word by word: what is left when the words they share are laid over each other, and what kind of difference it is. */
import { baseOf, keyOf } from './reading.ts';
import type { RelationPolicy } from './relation-policy.ts';
import { MEASURES, type Token } from './values/token.ts';

/** One place where the two differ. */
export interface Hunk {
  readonly before: readonly Token[];
  readonly after: readonly Token[];
  /** Share of the older's tokens that stand before it. */
  readonly at: number;
}

/** Longer texts are not laid over each other. */
const MAX_TOKENS = 160;

/** The hunks between two token lists by a longest common subsequence, and how many tokens are shared. Quadratic, in at most 160 tokens. */
export function hunksOf(
  before: readonly Token[],
  after: readonly Token[],
): { readonly hunks: readonly Hunk[]; readonly shared: number } | undefined {
  if (before.length > MAX_TOKENS || after.length > MAX_TOKENS) return undefined;
  const [a, b] = [before, after].map((tokens) => tokens.map((t) => `${t.type}:${t.text}`)) as [string[], string[]];
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j]
          ? 1 + (lengths[(i + 1) * width + j + 1] ?? 0)
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const hunks: Hunk[] = [];
  let [i, j, fromA, fromB] = [0, 0, 0, 0];
  const close = (): void => {
    if (i > fromA || j > fromB)
      hunks.push({ before: before.slice(fromA, i), after: after.slice(fromB, j), at: fromA / Math.max(1, a.length) });
  };
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      close();
      i += 1;
      j += 1;
      [fromA, fromB] = [i, j];
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  [i, j] = [a.length, b.length];
  close();
  return { hunks, shared: lengths[0] ?? 0 };
}

/** What the only differences of two sentences are. */
export type Difference = 'measure' | 'negation' | 'degree' | 'state' | 'opposite' | 'name' | 'other';

export function differenceOf(hunk: Hunk, policy: RelationPolicy): Difference {
  const { before, after } = hunk;
  const all = [...before, ...after];
  if (denies(hunk)) return 'negation';
  if (all.every(({ type }) => type === 'degree' || type === 'not')) return 'degree';
  const other = policy.opposites.get(words(before));
  if (other !== undefined && other.other === words(after)) return other.state ? 'state' : 'opposite';
  if (before.length > 0 && before.length === after.length && before.every((t, i) => MEASURES.has(t.type) && t.type === after[i]?.type))
    return 'measure';
  return before.length > 0 && after.length > 0 && all.every(({ capital, type }) => capital || type === 'code') ? 'name' : 'other';
}

const CARRIERS = new Set(['do', 'does', 'did', '有', '做', 'be', 'is', 'are']);

/** One has a negation more, and nothing else but the words that carry it: "includes" and "does not include", 有 and 没有. */
function denies({ before, after }: Hunk): boolean {
  const [first, second] = [before, after].map((tokens) => ({
    nots: tokens.filter(({ type }) => type === 'not').length,
    rest: tokens
      .filter(({ type, text }) => type !== 'not' && !CARRIERS.has(text))
      .map(({ type, text }) => (type === 'word' ? baseOf(text) : text)),
  }));
  return first !== undefined && second !== undefined && first.nots !== second.nots && first.rest.join(' ') === second.rest.join(' ');
}

function words(tokens: readonly Token[]): string {
  const key = keyOf(tokens);
  return tokens.every(({ type }) => type === 'han') ? key.replaceAll(' ', '') : key.replace(/^(?:degree|sign):/, '');
}
