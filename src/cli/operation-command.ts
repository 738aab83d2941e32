/** A command from an operation's definition: its flags from the input schema, its call from the HTTP binding, its print from human/. */
import { pathParameters, takesBody } from '../http/binding.ts';
import { queryParameters } from '../http/query.ts';
import type { HindsightError } from '../errors.ts';
import type { AnyOperation, HttpBinding } from '../operations/define.ts';
import { parseInput } from '../operations/parse.ts';
import { inLang, UsageError, type CommandSpec, type Invocation, type OptionValues, type Words } from './command-spec.ts';
import { CLIENT_OPTIONS, clientVariables, connect } from './connect.ts';
import { isA } from './failure.ts';
import { faultLines, flagsOf, inputOf, optionOf, type Flag } from './flags.ts';
import { printAnswer } from './human/print.ts';
import type { Refused, RestCall, RestClient } from './rest-client.ts';
import { readStdin } from './stdin.ts';

/** Summaries in Chinese; the English one is the operation's title. */
const ZH: Readonly<Record<string, string>> = {
  memory_write: '写入一条记忆',
  memory_search: '检索记忆',
  memory_context: '本轮提示词所需的记忆',
  memory_get: '读取一条记忆',
  memory_list: '列出记忆',
  memory_update: '更正一条记忆',
  memory_history: '查看一条记忆的各个版本',
  memory_restore: '恢复到旧版本，或找回已忘记的记忆',
  memory_feedback: '评价检索到的记忆',
  memory_forget: '忘记记忆',
  memory_confirmations: '等待确认的写入',
  memory_confirm: '确认或拒绝一条等待确认的写入',
  memory_quarantine: '被隔离的写入',
  memory_release: '放行或拒绝一条被隔离的写入',
  memory_reveal: '查看一条记忆中加密保存的内容',
  memory_keys_delete: '删除租户密钥：已加密的内容将永久无法读取',
  memory_turns_add: '在会话的工作记忆中加一轮对话',
  memory_turns: '查看会话的最近几轮对话',
  memory_state_set: '设置会话的任务状态',
  memory_state: '查看会话的任务状态',
  memory_namespace: '查看一个命名空间是否收集记忆',
  memory_collect: '开启或关闭一个命名空间的收集',
  memory_stats: '服务状态与数量',
  memory_summarize: '概括某个命名空间某段时间的记忆',
  memory_audit: '审计日志',
  memory_audit_verify: '核查审计日志',
  memory_recall_trace: '查看某次检索返回了什么及其原因（30 天内）',
  memory_instructions: '如何使用记忆（给智能体的说明）',
};

/** `memory_search` is `search`. */
export const commandName = (operation: AnyOperation): string =>
  operation.cli?.name ?? operation.name.replace(/^memory_/, '').replaceAll('_', '-');

/** The command's declaration; schemas are read when it is asked for, not when the registry is. */
export function operationCommand(operation: AnyOperation): CommandSpec {
  const flags = flagsOf(operation);
  const { positional, aliases } = operation.cli ?? {};
  const word = flags.find(({ path }) => path.join('.') === positional);
  const name = commandName(operation);
  const options = Object.fromEntries(flags.filter((flag) => flag !== word).map((flag) => [flag.name, optionOf(flag)]));
  return {
    name,
    ...(aliases === undefined ? {} : { aliases }),
    summary: summaryOf(operation),
    usage: `${name}${word === undefined ? '' : ` ${word.name.toUpperCase()}${word.isText ? '|-' : ''}`} [--json] […]`,
    ...(word === undefined ? {} : { takesWords: true }),
    options: { ...options, ...CLIENT_OPTIONS },
    ...(word === undefined ? {} : { notes: wordNotes(word) }),
    variables: clientVariables,
    examples: examplesOf(operation, flags),
    run: async (values, invocation) => {
      const input = await readInput(operation, values, invocation);
      const answer = await callOperation(connect(values, invocation), operation, input);
      return printAnswer(operation.name, answer, values['json'] === true, invocation);
    },
  };
}

export function summaryOf(operation: AnyOperation): Words {
  const zh = ZH[operation.name];
  return zh === undefined ? operation.title : { en: operation.title, zh };
}

/** Flags and word as the operation's input, checked by its own schema. Throws UsageError in the words of the command line. */
export async function readInput(operation: AnyOperation, values: OptionValues, invocation: Invocation): Promise<Record<string, unknown>> {
  const flags = flagsOf(operation);
  const positional = operation.cli?.positional;
  const input = inputOf(flags, values, invocation.lists);
  const word = flags.find(({ path }) => path.join('.') === positional);
  if (word !== undefined && positional !== undefined && invocation.words.length > 0)
    input[positional] = await wordOf(word, invocation, operation);
  try {
    return parseInput(operation, input);
  } catch (error) {
    if (isA<HindsightError>(error, 'HindsightError') && error.code === 'ERR_REQUEST_INVALID')
      throw new UsageError(faultLines(error.faults, flags, positional).join('; '), commandName(operation));
    throw error;
  }
}

async function wordOf(word: Flag, invocation: Invocation, operation: AnyOperation): Promise<string> {
  const [first = '', ...more] = invocation.words;
  if (first === '-' && more.length === 0) return (await readStdin(invocation.stdin)).replace(/\r?\n$/, '');
  if (more.length > 0 && !word.isText)
    throw new UsageError(
      inLang({ en: `takes one ${word.name.toUpperCase()}`, zh: `只接受一个 ${word.name.toUpperCase()}` }, invocation.lang),
      commandName(operation),
    );
  return invocation.words.join(' ');
}

/** The answer's text. Throws Refused and Unreachable; faults of the request come back in the words of the command line. */
export async function callOperation(
  client: RestClient,
  operation: AnyOperation,
  input: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    return (await client.call({ ...restCallOf(operation, input), headers })).text;
  } catch (error) {
    if (isA<Refused>(error, 'Refused') && error.code === 'ERR_REQUEST_INVALID' && error.faults.length > 0)
      error.message = faultLines(error.faults, flagsOf(operation), operation.cli?.positional).join('; ');
    throw error;
  }
}

/** Method, path and body by the binding that carries all of the input; the one with most of it in its path is taken. Pure. */
export function restCallOf(operation: AnyOperation, input: Readonly<Record<string, unknown>>): RestCall {
  const fits = ({ path, fields }: HttpBinding): boolean =>
    pathParameters(path).every((name) => input[name] !== undefined) && Object.keys(input).every((n) => fields?.includes(n) ?? true);
  const binding = operation.http.filter(fits).sort((a, b) => pathParameters(b.path).length - pathParameters(a.path).length)[0];
  if (binding === undefined) throw new TypeError(`${operation.name} has no binding for this input`);
  const inPath = pathParameters(binding.path);
  const path = binding.path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(input[name])));
  const rest = Object.fromEntries(Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined));
  if (takesBody(binding)) return { method: binding.method, path, body: rest };
  const query = new URLSearchParams();
  for (const { name, path: at } of queryParameters(operation, binding.fields, inPath)) {
    const value = at.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], rest);
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return { method: binding.method, path: text === '' ? path : `${path}?${text}` };
}

function wordNotes({ name, isText, description }: Flag): Words {
  const upper = name.toUpperCase();
  const dash = isText ? { en: ' "-" reads it from stdin.', zh: '“-” 表示从标准输入读取。' } : { en: '', zh: '' };
  return { en: `${upper}: ${inLang(description, 'en')}.${dash.en}`, zh: `${upper}：${inLang(description, 'zh')}。${dash.zh}` };
}

/** The operation's own examples as command lines; those that flags cannot say are left out. */
function examplesOf(operation: AnyOperation, flags: readonly Flag[]): string[] {
  const positional = operation.cli?.positional;
  return operation.examples.flatMap((example) => {
    const parts = [`hindsight-es ${commandName(operation)}`];
    let said = 0;
    for (const flag of flags) {
      const value = flag.path.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], example);
      if (value === undefined) continue;
      said += 1;
      if (Array.isArray(value) && flag.isText) {
        parts.push(...value.map((text) => `--${flag.name} ${quoted(String(text))}`));
        continue;
      }
      const shown = Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value);
      if (flag.path.join('.') === positional) parts.splice(1, 0, quoted(shown));
      else if (flag.type === 'boolean') parts.push(value === true ? `--${flag.name}` : `--no-${flag.name}`);
      else parts.push(`--${flag.name} ${quoted(shown)}`);
    }
    // an operation that needs nothing shows so
    return said === 0 && Object.keys(example).length > 0 ? [] : [parts.join(' ')];
  });
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.:,@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
