/** A summary as people see it: a sentence a line with its time and what it rests on, then how it was made and what became of it. */
import type { SummarizeAnswer } from '../../domain/wire/summary.ts';
import { inLang } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { Printer } from './printer.ts';
import { inert, oneLine } from './text.ts';

export const printSummary: Printer<SummarizeAnswer> = (answer, pen, lang) => {
  const { sentences, method, memories, truncated, degraded, results = [] } = answer;
  const lines = sentences.map(
    ({ text, at, memory_ids: ids }) => `${inert(text)}\n  ${pen.paint('dim', oneLine(`${at.slice(0, 10)} ${ids.join(' ')}`))}\n`,
  );
  const none = `${inLang({ en: 'There is nothing to sum up.', zh: '没有可以概括的内容。' }, lang)}\n`;
  const made = inLang(
    {
      en: `${method} summary of ${memories} memories${truncated ? ' (there are more: the oldest were left out)' : ''}`,
      zh: `${method === 'extractive' ? '摘录自' : '归纳自'} ${memories} 条记忆${truncated ? '（还有更多，最早的未计入）' : ''}`,
    },
    lang,
  );
  const without =
    degraded.length === 0
      ? ''
      : `${pen.paint('yellow', inLang({ en: `! without: ${degraded.map(oneLine).join(', ')}`, zh: `! 缺少：${degraded.map(oneLine).join('、')}` }, lang))}\n`;
  const kept = results.map(({ outcome, memory_id: id }) => `${oneLine(outcome)} ${id ?? ''}\n`).join('');
  return { text: `${sentences.length === 0 ? none : lines.join('')}${pen.paint('dim', made)}\n${without}${kept}`, exitCode: EXIT.ok };
};
