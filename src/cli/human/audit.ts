/** The audit log for people: one line a record, and what the check of its chains found. */
import type { AuditAnswer, AuditVerifyAnswer } from '../../domain/wire/audit.ts';
import { inLang, type Lang, type Words } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { Printer } from './printer.ts';
import { oneLine, type Pen } from './text.ts';

type AuditRecord = AuditAnswer['records'][number];

const IDS_SHOWN = 3;

/** Newest first: when, what, by whom, with which outcome, on which memories. */
export const printAudit: Printer<AuditAnswer> = ({ records, next_cursor: cursor }, pen, lang) => {
  const say = (words: Words): string => inLang(words, lang);
  if (records.length === 0) return { text: `${say({ en: 'No records fit.', zh: '没有符合的记录。' })}\n`, exitCode: EXIT.ok };
  const more = cursor === null ? '' : `${say({ en: 'More with', zh: '更多：' })} --cursor ${oneLine(cursor)}\n`;
  return { text: records.map((record) => recordLine(record, pen)).join('') + more, exitCode: EXIT.ok };
};

function recordLine(record: AuditRecord, pen: Pen): string {
  const { at, operation, record_type: type, outcome, reason, verdict = [], rule_ids: rules = [], memory_ids: ids = [] } = record;
  const by = [record.actor, record.owner, record.client_id].filter((part) => part !== undefined);
  const result = [outcome, reason, ...verdict.filter((v) => v !== 'allow'), ...rules].filter((part) => part !== undefined);
  const shown = [...ids.slice(0, IDS_SHOWN), ...(ids.length > IDS_SHOWN ? [`+${ids.length - IDS_SHOWN}`] : [])];
  const count = record.count === undefined ? [] : [`n=${record.count}`];
  const paint = outcome === 'ok' ? 'green' : 'yellow';
  const head = `${at}  ${pen.paint('cyan', oneLine(operation ?? type))}  ${pen.paint(paint, oneLine(result.join(' ')))}`;
  const rest = [by.join('/'), ...count, ...shown, record.trace_id].filter((part) => part !== undefined && part !== '');
  return `${head}\n      ${pen.paint('dim', oneLine(rest.join(' · ')))}\n`;
}

const FAULTS: Readonly<Record<string, Words>> = {
  edited: { en: 'was edited', zh: '被修改' },
  missing: { en: 'is missing', zh: '缺失' },
  broken: { en: 'does not follow the record before it', zh: '与前一条不衔接' },
  rewritten: { en: 'is not the one that was signed for', zh: '不是当时签名的那一条' },
  truncated: { en: 'was cut off: an anchor has seen it', zh: '被截去：锚点曾见过它' },
  forged: { en: 'was not written by the service', zh: '不是本服务写入的' },
  unknown_key: {
    en: 'was signed with another SERVICE_SECRET: whether that process’s records were rewritten or cut off cannot be said; set the former one in SERVICE_SECRET_PREVIOUS and verify again',
    zh: '由另一个 SERVICE_SECRET 签名：无法判断该进程的记录是否被改写或截去；请把原来的密钥设为 SERVICE_SECRET_PREVIOUS 后重新核查',
  },
  former_key: {
    en: 'was signed with a former SERVICE_SECRET after that had been replaced: by a process that was not started anew, or by somebody else who has it',
    zh: '由已被替换的旧 SERVICE_SECRET 签名：来自没有重启的进程，或来自持有旧密钥的他人',
  },
};

/** A chain that breaks is a failure: scripts see it by the exit code. */
export const printAuditVerify: Printer<Omit<AuditVerifyAnswer, 'trace_id'>> = (answer, pen, lang) => {
  const { intact, chains, records, anchors, open_chains: open, unanchored, faults, fault_count: count } = answer;
  const verdict = intact
    ? pen.paint('green', inLang({ en: 'The audit log is intact.', zh: '审计日志完整。' }, lang))
    : pen.paint('yellow', inLang({ en: `The audit log is broken in ${count} places:`, zh: `审计日志有 ${count} 处断裂：` }, lang));
  const figures = inLang(
    {
      en: `${records} records in ${chains} chains, ${anchors} anchors; ${open} chains are open (their process runs, or was killed), with ${unanchored} records that no anchor knows yet.`,
      zh: `${chains} 条链共 ${records} 条记录，${anchors} 个锚点；${open} 条链未结束（进程仍在运行或曾被杀死），其中 ${unanchored} 条尚未被锚点覆盖。`,
    },
    lang,
  );
  const lines = faults.map((fault) => faultLine(fault, lang)).join('');
  return { text: `${verdict}\n${lines}${figures}\n`, exitCode: intact ? EXIT.ok : EXIT.failed };
};

function faultLine({ kind, chain, seq, to_seq: to }: AuditVerifyAnswer['faults'][number], lang: Lang): string {
  const words = FAULTS[kind] ?? kind;
  return `  ${oneLine(chain)} #${seq}${to === undefined ? '' : `-${to}`} ${inLang(words, lang)}\n`;
}
