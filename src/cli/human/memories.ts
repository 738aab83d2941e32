/** What is remembered, for people: hits, lists, one memory, versions. */
import { inLang, type Lang, type Words } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import type { Hit, HistoryAnswer, ListAnswer, MemoryView, SearchAnswer } from '../../domain/wire/read.ts';
import type { Printed, Printer } from './printer.ts';
import { columnsOf, cut, inert, oneLine, pad, table, type Pen } from './text.ts';

const done = (text: string): Printed => ({ text, exitCode: EXIT.ok });

const day = (iso: string): string => oneLine(iso.slice(0, 10));

/** Best first: score and text on one line, where it stands and how far it is trusted on the next. */
export const printHits: Printer<SearchAnswer> = (answer, pen, lang) => {
  const { hits } = answer;
  const degraded = answer.degraded.map(oneLine);
  const left = answer.left_out ?? 0;
  const notes = [
    ...(left === 0 ? [] : [inLang({ en: `! ${left} more did not fit the budget`, zh: `! 另有 ${left} 条超出 token 上限` }, lang)]),
    ...(degraded.length === 0 ? [] : [inLang({ en: `! without: ${degraded.join(', ')}`, zh: `! 缺少：${degraded.join('、')}` }, lang)]),
  ];
  const accounts = (answer.why_not ?? []).map(
    (one) => `${pen.paint('cyan', one.outcome)}  ${inert(one.memory_id)}  ${oneLine(one.sentence)}\n`,
  );
  const note = notes.map((line) => `${pen.paint('yellow', line)}\n`).join('') + accounts.join('');
  if (hits.length === 0 && left > 0) return done(note);
  if (hits.length === 0) return done(`${inLang({ en: 'Nothing remembered answers this.', zh: '没有相关的记忆。' }, lang)}\n${note}`);
  const doubtful = answer.nothing_relevant
    ? `${pen.paint('yellow', inLang({ en: 'Nothing remembered answers this; the nearest:', zh: '没有真正相关的记忆；最接近的有：' }, lang))}\n`
    : '';
  return done(doubtful + hits.map((hit) => hitLines(hit, pen, lang)).join('') + note);
};

function hitLines(hit: Hit, pen: Pen, lang: Lang): string {
  const score = hit.score.toFixed(2);
  const text = oneLine(hit.passage ?? hit.content);
  const facts = [hit.memory_id, hit.namespace, hit.kind, hit.subject, day(hit.occurred_at ?? hit.created_at), trustWords(hit)];
  const about = facts.filter((fact) => fact !== undefined).map(oneLine);
  const states = [
    ...(hit.status === 'active' ? [] : [oneLine(hit.status)]),
    ...(hit.doubt === undefined ? [] : [inLang(IN_DOUBT, lang)]),
    ...(hit.form === undefined || hit.form === 'whole' ? [] : [inLang(FORMS[hit.form], lang)]),
  ];
  const status = states.length === 0 ? '' : ` [${states.join(', ')}]`;
  const past = pastWords(hit, lang);
  const before = past === undefined ? '' : `      ${pen.paint('dim', cut(past, pen.columns - 6))}\n`;
  const why = (hit.explain?.signals ?? []).map(
    (s) => `      ${s.contribution.toFixed(3).padStart(6)}  ${pad(oneLine(s.signal), 14)} ${oneLine(s.sentence)}\n`,
  );
  const near = (hit.neighbours ?? []).map(
    ({ turn, content }) => `      ${pen.paint('dim', cut(`${turn}: ${oneLine(content)}`, pen.columns - 6))}\n`,
  );
  return `${pen.paint('green', score)}  ${cut(text, pen.columns - 6)}${pen.paint('yellow', status)}\n      ${pen.paint('dim', about.join(' · '))}\n${before}${near.join('')}${why.join('')}`;
}

const FORMS: Readonly<Record<'summary' | 'passage', Words>> = {
  summary: { en: 'summary', zh: '摘要' },
  passage: { en: 'passage', zh: '节选' },
};

const IN_DOUBT: Words = { en: 'possibly outdated', zh: '可能已过时' };

/** What was said before, or since and until when it held. */
function pastWords({ was, valid_from: from, valid_to: to }: Hit, lang: Lang): string | undefined {
  if (was !== undefined)
    return inLang({ en: `until ${day(was.until)}: ${oneLine(was.content)}`, zh: `${day(was.until)} 之前：${oneLine(was.content)}` }, lang);
  if (from === undefined) return undefined;
  return `${day(from)} – ${to === undefined ? inLang({ en: 'now', zh: '现在' }, lang) : day(to)}`;
}

function trustWords(memory: Pick<Hit, 'trust' | 'reference_only'>): string {
  return memory.reference_only ? `${memory.trust.tier}, reference only` : memory.trust.tier;
}

/** A line each. */
export const printList: Printer<ListAnswer> = (answer, pen, lang) => {
  const { items } = answer;
  const head =
    lang === 'zh' ? ['编号', '日期', '命名空间', '类型', '状态', '内容'] : ['id', 'date', 'namespace', 'kind', 'status', 'content'];
  const rows = items.map((m) =>
    [m.memory_id, day(m.created_at), m.namespace, m.kind ?? m.layer, m.status, m.title ?? m.content].map(oneLine),
  );
  if (items.length === 0) return done(`${inLang({ en: 'Nothing is remembered here.', zh: '这里还没有记忆。' }, lang)}\n`);
  const more =
    answer.next_cursor === null ? '' : `${inLang({ en: 'More with', zh: '更多：' }, lang)} --cursor ${oneLine(answer.next_cursor)}\n`;
  return done(table(pen, head, rows) + more);
};

const LABELS: Readonly<Partial<Record<keyof MemoryView, Words>>> = {
  memory_id: 'id',
  namespace: { en: 'namespace', zh: '命名空间' },
  title: { en: 'title', zh: '标题' },
  summary: { en: 'summary', zh: '摘要' },
  layer: { en: 'layer', zh: '层' },
  kind: { en: 'kind', zh: '类型' },
  subject: { en: 'subject', zh: '对象' },
  topic: { en: 'topic', zh: '话题' },
  tags: { en: 'tags', zh: '标签' },
  status: { en: 'status', zh: '状态' },
  version: { en: 'version', zh: '版本' },
  visibility: { en: 'visibility', zh: '可见性' },
  importance: { en: 'importance', zh: '重要性' },
  confidence: { en: 'confidence', zh: '可信度' },
  created_at: { en: 'created', zh: '存入' },
  updated_at: { en: 'updated', zh: '更新' },
  occurred_at: { en: 'occurred', zh: '发生' },
  expires_at: { en: 'expires', zh: '失效' },
  session_id: { en: 'session', zh: '会话' },
  task_id: { en: 'task', zh: '任务' },
  task_type: { en: 'task type', zh: '任务类型' },
  reason: { en: 'reason', zh: '原因' },
  superseded_by: { en: 'superseded by', zh: '被取代于' },
};

/** The text, then what is known about it. */
export const printMemory: Printer<MemoryView> = (memory, pen, lang) => {
  const rows: [string, string][] = (Object.entries(LABELS) as [keyof MemoryView, Words][]).flatMap(([field, label]) => {
    const value = memory[field];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
    return [
      [inLang(label, lang), oneLine(Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value))],
    ];
  });
  rows.push([inLang({ en: 'trust', zh: '信任' }, lang), oneLine(`${trustWords(memory)} (${memory.trust.origins.join(', ')})`)]);
  if (memory.metadata !== undefined) rows.push([inLang({ en: 'metadata', zh: '元数据' }, lang), inert(JSON.stringify(memory.metadata))]);
  if (!memory.settled) rows.push([inLang({ en: 'vectors', zh: '向量' }, lang), inLang({ en: 'not there yet', zh: '尚未生成' }, lang)]);
  const width = Math.max(...rows.map(([label]) => columnsOf(label)));
  return done(`${inert(memory.content)}\n\n${rows.map(([label, value]) => `${pen.paint('dim', pad(label, width))}  ${value}\n`).join('')}`);
};

/** Newest first, with what changed. */
export const printHistory: Printer<HistoryAnswer> = (answer, pen, lang) => {
  const { versions } = answer;
  return done(
    versions
      .map((v) => {
        const until = v.valid_to === undefined ? inLang({ en: 'now', zh: '现在' }, lang) : oneLine(v.valid_to);
        const head = `v${v.version}  ${oneLine(v.valid_from)} – ${until}  ${oneLine(v.status)}  ${oneLine(v.changed_by.actor)}`;
        const changes = v.changes.filter((c) => c.field !== 'content').map((c) => changeLine(c, lang));
        return `${pen.paint('cyan', head)}\n    ${cut(oneLine(v.content), pen.columns - 4)}\n${changes.join('')}`;
      })
      .join(''),
  );
};

function changeLine(change: HistoryAnswer['versions'][number]['changes'][number], lang: Lang): string {
  const shown = (value: unknown): string =>
    value === undefined ? inLang({ en: 'nothing', zh: '无' }, lang) : oneLine(JSON.stringify(value));
  return `    ${oneLine(change.field)}: ${shown(change.before)} → ${shown(change.after)}\n`;
}
