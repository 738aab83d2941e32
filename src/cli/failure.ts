/** What goes wrong, told once: one sentence with the way out for people, a problem document with --json; and the exit code. */
import { toHindsightError, type ErrorCode, type HindsightError } from '../errors.ts';
import { inLang, type Lang, type Surroundings, type UsageError, type Words } from './command-spec.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { inert } from './human/text.ts';
import type { Refused, Unreachable } from './rest-client.ts';

/** The command has told already what went wrong; only the exit code is left to say. */
export class Told extends Error {
  override readonly name = 'Told';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** A failure of a command itself. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** By name: commands are imported when they are called, and a loader that knows a file under two addresses makes two classes of one. */
export function isA<E extends Error>(thrown: unknown, name: E['name']): thrown is E {
  return thrown instanceof Error && thrown.name === name;
}

/** Chinese for what a person meets most; everything else keeps the service's own sentence. */
const ZH: Readonly<Partial<Record<ErrorCode, string>>> = {
  ERR_AUTH_MISSING: '需要访问令牌',
  ERR_AUTH_INVALID: '令牌被拒绝',
  ERR_SCOPE_MISSING: '令牌缺少所需的权限',
  ERR_ACTOR_FORBIDDEN: '只有用户本人可以这样做，智能体和服务不行',
  ERR_NAMESPACE_FORBIDDEN: '令牌无权在该命名空间中这样做',
  ERR_MEMORY_NOT_FOUND: '没有这条记忆，或令牌无权查看',
  ERR_VERSION_CONFLICT: '这条记忆同时被修改，请重新读取后再试',
  ERR_PRECONDITION_FAILED: '这条记忆已是别的版本',
  ERR_RATE_LIMITED: '请求过多，请稍后再试',
  ERR_TURN_SEARCHED: '这一轮已经检索过：请用那次的结果，下一轮换新的 turn_id',
  ERR_STORE_UNAVAILABLE: '暂时连不上 Elasticsearch，请重试（写入可能已保存，也可能没有，请先查询）',
  ERR_GUARD_UNAVAILABLE: '守卫暂时无法判定，因此没有写入',
  ERR_FORGET_TARGET: '请指明要忘记什么：能选中部分内容的条件或查询，而不是全部',
  ERR_PLAN_INVALID: '计划无效、已过期或属于另一次调用，请重新试运行',
  ERR_ROUTE_NOT_FOUND: '该服务没有这个接口（版本较旧，或不是 hindsight-es）',
};

const ADVICE: Readonly<Partial<Record<ErrorCode, Words>>> = {
  ERR_AUTH_MISSING: {
    en: 'set HINDSIGHT_TOKEN; "hindsight-es token" mints one for a local service',
    zh: '请设置 HINDSIGHT_TOKEN；本地服务可用 “hindsight-es token” 签发',
  },
  ERR_AUTH_INVALID: {
    en: 'it may have ended or belong to another service; "hindsight-es token" mints one for a local service',
    zh: '可能已过期或属于别的服务；本地服务可用 “hindsight-es token” 签发',
  },
  ERR_ROUTE_NOT_FOUND: { en: 'the service is older than this program, or is none', zh: '请检查地址与版本' },
};

/** Writes to stderr; answers the exit code. */
export function reportFailure(thrown: unknown, json: boolean, { lang, stderr }: Pick<Surroundings, 'lang' | 'stderr'>): number {
  if (isA<Told>(thrown, 'Told')) return thrown.exitCode;
  const { exitCode, sentence, problem } = describe(thrown, lang);
  if (json && !isA(thrown, 'UsageError')) stderr.write(`${problem ?? problemOf(exitCode, sentence)}\n`);
  else stderr.write(`hindsight-es: ${inert(sentence)}\n`);
  return exitCode;
}

function describe(thrown: unknown, lang: Lang): { readonly exitCode: number; readonly sentence: string; readonly problem?: string } {
  if (isA<UsageError>(thrown, 'UsageError')) {
    const help = thrown.command === undefined ? 'hindsight-es --help' : `hindsight-es ${thrown.command} --help`;
    return { exitCode: EXIT.usage, sentence: `${thrown.message}${inLang({ en: `; try "${help}"`, zh: `；参见 “${help}”` }, lang)}` };
  }
  if (isA<Refused>(thrown, 'Refused')) return refusal(thrown, lang);
  if (isA<Unreachable>(thrown, 'Unreachable')) return { exitCode: EXIT.unavailable, sentence: unreachable(thrown, lang) };
  if (isA<CommandFailed>(thrown, 'CommandFailed')) return { exitCode: thrown.exitCode, sentence: thrown.message };
  const error = isA<HindsightError>(thrown, 'HindsightError') ? thrown : toHindsightError(thrown);
  const detail = error.code === 'ERR_INTERNAL' && thrown instanceof Error ? `: ${thrown.message}` : '';
  return { exitCode: EXIT.failed, sentence: `${error.message}${detail}` };
}

function refusal(refused: Refused, lang: Lang): { exitCode: number; sentence: string; problem: string } {
  const code = refused.code as ErrorCode | undefined;
  const text = (lang === 'zh' && code !== undefined ? ZH[code] : undefined) ?? refused.message;
  const advice = code === undefined ? undefined : ADVICE[code];
  const sentence = advice === undefined ? text : `${text}${lang === 'zh' ? '：' : ': '}${inLang(advice, lang)}`;
  return { exitCode: exitCodeOf(refused.status, refused.code), sentence, problem: refused.text.trimEnd() };
}

function unreachable(error: Unreachable, lang: Lang): string {
  if (error.cause === undefined) return error.message;
  const doctor = inLang({ en: '; "hindsight-es doctor" tells what is missing', zh: '；用 “hindsight-es doctor” 检查原因' }, lang);
  return `${error.message}${doctor}`;
}

/** RFC 9457, for faults that no service told. */
function problemOf(exitCode: number, detail: string): string {
  const away = exitCode === EXIT.unavailable;
  return JSON.stringify({
    type: `urn:hindsight-es:cli:${away ? 'unreachable' : 'failed'}`,
    title: away ? 'Service unreachable' : 'Command failed',
    detail,
    exit_code: exitCode,
  });
}
