/** What a write, an update or a forget did, for people; and whether it did it at all. */
import type { ForgetAnswer } from '../../domain/wire/forget.ts';
import type { UpdateAnswer, WriteAnswer } from '../../domain/wire/write.ts';
import { inLang, type Lang, type Words } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { Printer } from './printer.ts';
import { cut, oneLine, type Pen } from './text.ts';

const OUTCOMES: Readonly<Record<string, Words>> = {
  stored: { en: 'stored', zh: '已写入' },
  merged: { en: 'merged', zh: '已合并' },
  replaced: { en: 'stored, replacing another', zh: '已写入并取代旧的' },
  duplicate: { en: 'known already', zh: '已有相同内容' },
  conflict: { en: 'conflict', zh: '冲突' },
  candidate: { en: 'kept as a candidate', zh: '留作候选' },
  pending: { en: 'waits for a decision', zh: '等待确认' },
  quarantined: { en: 'quarantined', zh: '已隔离' },
  blocked: { en: 'blocked', zh: '被拦截' },
  dropped: { en: 'not stored', zh: '未写入' },
  invalid: { en: 'invalid', zh: '无效' },
  failed: { en: 'failed', zh: '失败' },
  updated: { en: 'updated', zh: '已更新' },
  restored: { en: 'restored', zh: '已恢复' },
  unchanged: { en: 'unchanged', zh: '没有变化' },
};

/** What was asked for did not happen and nobody will still decide about it. */
const FAILURES = new Set(['blocked', 'invalid', 'failed']);

const DONE = new Set(['stored', 'updated', 'restored']);

const exitCodeOf = (outcomes: readonly string[]): number => (outcomes.some((o) => FAILURES.has(o)) ? EXIT.failed : EXIT.ok);

function outcomeWords(outcome: string, pen: Pen, lang: Lang): string {
  const words = inLang(OUTCOMES[outcome] ?? oneLine(outcome), lang);
  return pen.paint(FAILURES.has(outcome) ? 'red' : DONE.has(outcome) ? 'green' : 'yellow', words);
}

/** A line an item; exit code 1 when one was blocked, invalid or failed. */
export const printWritten: Printer<WriteAnswer> = (answer, pen, lang) => {
  const { results } = answer;
  const text = results.map((r) => {
    const id = r.memory_id === null ? '' : ` ${oneLine(r.memory_id)}`;
    const errors = (r.errors ?? []).map((e) => `\n  ${oneLine(`${e.pointer} ${e.message}`)}`);
    const masked = r.masked.length > 0 ? ` (${inLang({ en: 'masked', zh: '已遮盖' }, lang)}: ${oneLine(r.masked.join(', '))})` : '';
    const reason = r.reason === undefined ? '' : `: ${oneLine(r.reason)}`;
    return `${outcomeWords(r.outcome, pen, lang)}${id}${reason}${masked}${errors.join('')}\n`;
  });
  return { text: text.join(''), exitCode: exitCodeOf(results.map((r) => r.outcome)) };
};

/** Of memory_restore too. */
export const printUpdated: Printer<Pick<UpdateAnswer, 'memory_id' | 'version' | 'reason'> & { readonly outcome: string }> = (
  answer,
  pen,
  lang,
) => {
  const reason = answer.reason === undefined ? '' : `: ${oneLine(answer.reason)}`;
  const text = `${outcomeWords(answer.outcome, pen, lang)} ${oneLine(answer.memory_id)} v${answer.version}${reason}\n`;
  return { text, exitCode: exitCodeOf([answer.outcome]) };
};

/** A dry run tells how many and shows some; a real one how many went. */
export const printForgotten: Printer<ForgetAnswer> = (answer, pen, lang) => {
  if (answer.count === undefined) {
    const n = answer.forgotten;
    return { text: `${inLang({ en: `forgotten: ${n}`, zh: `已忘记 ${n} 条` }, lang)}\n`, exitCode: EXIT.ok };
  }
  const sample = (answer.sample ?? []).map(
    (s) =>
      `  ${pen.paint('dim', oneLine(`${s.memory_id} ${s.created_at.slice(0, 10)}`))}\n    ${cut(oneLine(s.content), pen.columns - 4)}\n`,
  );
  const n = answer.count;
  const head = inLang({ en: `would be forgotten: ${n}`, zh: `将忘记 ${n} 条` }, lang);
  const more =
    n > sample.length && sample.length > 0
      ? `  … ${inLang({ en: `and ${n - sample.length} more`, zh: `以及另外 ${n - sample.length} 条` }, lang)}\n`
      : '';
  return { text: `${pen.paint('bold', head)}\n${sample.join('')}${more}`, exitCode: EXIT.ok };
};
