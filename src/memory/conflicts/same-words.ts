/** Whether two readings say the same in the same words: in one order, or with their one time expression in another place. */
import { keyOf, type Reading } from './reading.ts';
import type { Token } from './values/token.ts';

const TIMES: ReadonlySet<string> = new Set(['date', 'weekday', 'time']);
/** Belong to the time they stand beside. */
const AROUND = new Set('on at in by from until till since before after to every 在 于 从 到 至 每 前 后 起 之 以 下 上 本'.split(' '));

/** Symmetric. */
export function sameWords(a: Reading, b: Reading): boolean {
  if (a.tokens.length === 0 || b.tokens.length === 0) return a.plain === b.plain && a.subject === b.subject;
  if (a.subject !== undefined && b.subject !== undefined && a.subject !== b.subject) return false;
  if (a.subject === b.subject) return equal(a.about, b.about) || equal(a.tokens, b.tokens);
  // the subject that only one of them was given must stand in the words of both
  const named = a.subject ?? b.subject ?? '';
  return equal(a.tokens, b.tokens) && a.plain.toLowerCase().includes(named);
}

function equal(a: readonly Token[], b: readonly Token[]): boolean {
  if (keyOf(a) === keyOf(b)) return true;
  const [first, second] = [movable(a), movable(b)];
  return first !== undefined && first === second;
}

/** The words without their only time expression, and that expression; undefined when there is none, or more than one. */
function movable(tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex(({ type }) => TIMES.has(type));
  if (at === -1) return undefined;
  let [from, to] = [at, at + 1];
  while (from > 0 && AROUND.has(tokens[from - 1]?.text ?? '')) from -= 1;
  while (to < tokens.length && (TIMES.has(tokens[to]?.type ?? '') || AROUND.has(tokens[to]?.text ?? ''))) to += 1;
  if (tokens.slice(to).some(({ type }) => TIMES.has(type))) return undefined;
  return `${keyOf(tokens.slice(from, to))} | ${keyOf([...tokens.slice(0, from), ...tokens.slice(to)])}`;
}
