/** The block for a prompt as people see it: the text itself, and at a terminal what it costs; piped on, the text alone. */
import { inLang } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { ContextAnswer } from '../../domain/wire/context.ts';
import type { Printer } from './printer.ts';
import { inert, oneLine } from './text.ts';

export const printContext: Printer<ContextAnswer> = (answer, pen, lang) => {
  const { context, items, tokens, degraded } = answer;
  const parts = degraded.map(oneLine);
  const note =
    parts.length === 0
      ? ''
      : `${pen.paint('yellow', inLang({ en: `! without: ${parts.join(', ')}`, zh: `! 缺少：${parts.join('、')}` }, lang))}\n`;
  if (context === '') return { text: `${nothing(answer, lang)}\n${note}`, exitCode: EXIT.ok };
  const cost = inLang({ en: `${items.length} entries, about ${tokens} tokens`, zh: `${items.length} 条，约 ${tokens} 个 token` }, lang);
  const footer = pen.isTerminal ? `\n${pen.paint('dim', cost)}\n${note}` : '';
  return { text: `${inert(context)}\n${footer}`, exitCode: EXIT.ok };
};

/** An empty block has two reasons. */
function nothing({ nothing_relevant }: ContextAnswer, lang: Parameters<Printer<ContextAnswer>>[2]): string {
  return nothing_relevant
    ? inLang({ en: 'Nothing remembered is relevant.', zh: '没有相关的记忆。' }, lang)
    : inLang({ en: 'Nothing fits into this token budget.', zh: '在此 token 预算内放不下任何内容。' }, lang);
}
