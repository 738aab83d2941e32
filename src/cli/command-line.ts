/** The words after a command's name -> option values, with faults that say what was probably meant; commands.ts calls it. */
import { parseArgs } from 'node:util';
import {
  inLang,
  LANGS,
  UsageError,
  type CommandOption,
  type CommandSpec,
  type Invocation,
  type Lang,
  type OptionValues,
} from './command-spec.ts';
import { nearest } from './suggest.ts';

/** Options that every command takes. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  lang: { type: 'string', value: 'zh|en', description: { en: 'language of help and messages', zh: '帮助与提示的语言' } },
  help: { type: 'boolean', short: 'h', description: { en: 'this text', zh: '显示本说明' } },
};

/** Throws UsageError, in `lang`, for an option that the command does not have, a value that is missing, and words it does not take. */
export function parseCommandLine(
  spec: CommandSpec,
  args: readonly string[],
  lang: Lang,
): { readonly values: OptionValues } & Pick<Invocation, 'words' | 'lists'> {
  const declared = { ...spec.options, ...COMMON_OPTIONS };
  const options = Object.fromEntries(Object.entries(declared).map(([name, { description: _d, value: _v, ...option }]) => [name, option]));
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, strict: true, allowPositionals: true, allowNegative: true });
  } catch (error) {
    throw new UsageError(sentenceOf(error as NodeJS.ErrnoException, Object.keys(declared), lang), spec.name);
  }
  const [word] = parsed.positionals;
  if (spec.takesWords !== true && word !== undefined) {
    const shown = word.slice(0, 40);
    throw new UsageError(inLang({ en: `Unexpected word "${shown}"`, zh: `多余的参数 "${shown}"` }, lang), spec.name);
  }
  const given = Object.entries(parsed.values);
  const listed = given.flatMap(([name, value]) => (Array.isArray(value) ? [[name, value.map(String)] as const] : []));
  const single = given.filter(([, value]) => !Array.isArray(value)) as [string, string | boolean | undefined][];
  return { values: Object.fromEntries(single), lists: Object.fromEntries(listed), words: parsed.positionals };
}

/** The language that the command line names anywhere before `--`; undefined when it names none. Throws UsageError for another one. */
export function langOption(args: readonly string[]): Lang | undefined {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const at = own.findLastIndex((arg) => arg === '--lang' || arg.startsWith('--lang='));
  if (at === -1) return undefined;
  const value = own[at] === '--lang' ? own[at + 1] : own[at]?.slice('--lang='.length);
  const lang = LANGS.find((l) => l === value);
  if (lang === undefined) throw new UsageError(`--lang takes ${LANGS.join(' or ')}`);
  return lang;
}

const MAX_SENTENCE_CHARS = 200;

/** Node's own words, the first sentence of them, or ours where there is something to suggest. */
function sentenceOf(error: NodeJS.ErrnoException, known: readonly string[], lang: Lang): string {
  const unknown = /^Unknown option '--?([^'\s]{1,60})'/.exec(error.message)?.[1];
  if (unknown !== undefined) {
    const near = nearest(unknown.replace(/^no-/, ''), known);
    const hint = near === undefined ? '' : inLang({ en: ` (did you mean --${near}?)`, zh: `（是否想用 --${near}？）` }, lang);
    return `${inLang({ en: 'Unknown option', zh: '未知选项' }, lang)} --${unknown}${hint}`;
  }
  const [sentence = ''] = error.message.split('. ');
  return sentence.slice(0, MAX_SENTENCE_CHARS).replace(/\n.*/s, '').replace(/\.$/, '');
}
