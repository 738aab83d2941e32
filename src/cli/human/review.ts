/** What the guard held back, for people: every text with the rules that caught it, and what was decided. */
import type { ReviewAnswer, ReviewItem, ReviewListAnswer } from '../../domain/wire/review.ts';
import { inLang, type Lang, type Words } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { Printer } from './printer.ts';
import { columnsOf, inert, oneLine, pad, type Pen } from './text.ts';

/** One held-back memory in full: whoever decides on it has seen every word. */
export function reviewItemText(item: ReviewItem, pen: Pen, lang: Lang): string {
  const facts: readonly (readonly [Words, string])[] = [
    ...(item.guard.rule_ids.length === 0 ? [] : [[{ en: 'caught by', zh: '拦下它的规则' }, item.guard.rule_ids.join(', ')] as const]),
    [{ en: 'namespace', zh: '命名空间' }, item.namespace],
    [{ en: 'trust', zh: '信任' }, `${item.trust.tier} (${item.trust.origins.join(', ')})`],
    [{ en: 'written', zh: '写入时间' }, item.created_at],
    ...(item.expires_at === undefined ? [] : [[{ en: 'waits until', zh: '等待至' }, item.expires_at] as const]),
  ];
  const width = Math.max(...facts.map(([label]) => columnsOf(inLang(label, lang))));
  const rows = facts.map(([label, value]) => `  ${pen.paint('dim', pad(inLang(label, lang), width))}  ${oneLine(value)}\n`);
  const texts = Object.entries(item.texts).map(
    ([field, text]) => `  ${pen.paint('dim', `${oneLine(field)}:`)}\n${inert(text).replace(/^/gm, '    ')}\n`,
  );
  return `${pen.paint('cyan', oneLine(item.memory_id))}\n${texts.join('')}${rows.join('')}`;
}

/** One after the other, newest first. `command`: the one that decides on an item. */
export const reviewListPrinter =
  (command: 'confirm' | 'release'): Printer<ReviewListAnswer> =>
  ({ items, next_cursor }, pen, lang) => {
    const say = (words: Words): string => inLang(words, lang);
    if (items.length === 0)
      return { text: `${say({ en: 'Nothing waits for a decision.', zh: '没有等待决定的内容。' })}\n`, exitCode: EXIT.ok };
    const more = next_cursor === null ? '' : `${say({ en: 'More with', zh: '更多：' })} --cursor ${oneLine(next_cursor)}\n`;
    const next = `${say({ en: 'Decide with', zh: '作决定：' })} hindsight-es ${command} ${oneLine(items[0]?.memory_id ?? '')}\n`;
    return { text: `${items.map((item) => reviewItemText(item, pen, lang)).join('\n')}\n${more}${next}`, exitCode: EXIT.ok };
  };

export const printDecision: Printer<ReviewAnswer> = (answer, pen, lang) => {
  const approved = answer.outcome === 'approved';
  const words = approved
    ? { en: 'approved: remembered as confirmed by you', zh: '已批准：作为你确认过的记忆保存' }
    : { en: 'rejected', zh: '已拒绝' };
  return {
    text: `${pen.paint(approved ? 'green' : 'yellow', inLang(words, lang))} ${oneLine(answer.memory_id)} v${answer.version}\n`,
    exitCode: EXIT.ok,
  };
};
