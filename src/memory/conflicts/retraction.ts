/** Whether a newer sentence that ends something ends what an older one says: the words of the end must be those of the older, and most of them. */
import { isHanTerm } from '../../text/script.ts';
import { stem } from '../../text/analyze.ts';
import { STOP_WORDS } from '../../text/stop-words.ts';
import { keyOf, tokensOf } from './reading.ts';
import type { Relation } from './relation-kind.ts';
import type { RelationPolicy } from './relation-policy.ts';
import { MEASURES, type Token } from './values/token.ts';

/** Share of the older's telling words that the end must name. */
const CERTAIN = 0.6;
const POSSIBLE = 0.34;
const LIGHT = new Set([
  ...STOP_WORDS,
  ...'his her its our us me him them is am be been were has had about user own morning evening night day week month year time available applies apply 已 每 天 早 晚 上 午 周 月 年 能 可 以 我 们 用 户 他 她 要 有 把 被'.split(
    ' ',
  ),
]);

/** Undefined when it speaks of something else. */
export function endsOlder(older: string, ended: string, policy: RelationPolicy): Relation | undefined {
  const [all, named] = [telling(tokensOf(older, policy)), telling(tokensOf(ended, policy))];
  const words = [...all].filter(([, measure]) => !measure).map(([word]) => word);
  if (named.size === 0 || words.length === 0 || [...named.keys()].some((word) => !all.has(word))) return undefined;
  if (named.size > 1 && startsWith(older, ended, policy)) return { kind: 'retracted', reason: 'what it speaks of no longer holds' };
  const covered = words.filter((word) => named.has(word)).length / words.length;
  if (covered >= CERTAIN) return { kind: 'retracted', reason: 'no longer holds' };
  return covered >= POSSIBLE ? { kind: 'unsure', reason: 'perhaps it no longer holds' } : undefined;
}

/** What was ended is what the older sentence speaks of. */
function startsWith(older: string, ended: string, policy: RelationPolicy): boolean {
  return `${keyOf(tokensOf(older, policy))} `.toLowerCase().startsWith(`${keyOf(tokensOf(ended, policy))} `.toLowerCase());
}

/** Telling words in one form, and whether each is a measure: a date or number may be left out, but not another one named. */
function telling(tokens: readonly Token[]): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { type, text, capital } of tokens) {
    const measure = MEASURES.has(type) || type === 'ordinal';
    const word = type === 'word' ? text.replace(/'s?$/u, '') : text;
    if (LIGHT.has(word) || type === 'sign' || type === 'degree' || type === 'not') continue;
    found.set(measure ? `${type}:${text}` : isHanTerm(word) || capital ? word : stem(word), measure);
  }
  return found;
}
