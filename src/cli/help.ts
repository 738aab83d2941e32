/** Help texts, made from what commands declare. */
import { COMMON_OPTIONS } from './command-line.ts';
import { inLang, type CommandOption, type CommandSpec, type Lang } from './command-spec.ts';
import { EXIT_WORDS } from './exit-codes.ts';

const OPTION_COLUMN = 26;
const COMMAND_COLUMN = 13;
const VARIABLE_COLUMN = 28;

/** The help of one command. */
export async function helpOf(spec: CommandSpec, lang: Lang): Promise<string> {
  const word = (en: string, zh: string): string => (lang === 'zh' ? zh : en);
  const options = Object.entries({ ...spec.options, ...COMMON_OPTIONS }).map(([name, option]) => optionLine(name, option, lang));
  const variables = (await spec.variables?.(lang)) ?? [];
  const also = spec.aliases === undefined ? '' : word(` (also: ${spec.aliases.join(', ')})`, `（也可用：${spec.aliases.join('、')}）`);
  return [
    `${inLang(spec.summary, lang)}${also}`,
    `${word('Usage', '用法')}: hindsight-es ${spec.usage}`,
    `${word('Options', '选项')}:\n${options.join('\n')}`,
    ...(variables.length === 0
      ? []
      : [
          `${word('Environment', '环境变量')}:\n${variables.map(([name, text]) => `  ${name.padEnd(VARIABLE_COLUMN)} ${text}`).join('\n')}`,
        ]),
    ...(spec.notes === undefined ? [] : [inLang(spec.notes, lang)]),
    `${word('Examples', '示例')}:\n${spec.examples.map((e) => `  ${e}`).join('\n')}`,
    `${exitLine(lang)}\n`,
  ].join('\n\n');
}

/** What the program prints when it is started without a command. */
export function overviewOf(specs: readonly CommandSpec[], lang: Lang): string {
  const word = (en: string, zh: string): string => (lang === 'zh' ? zh : en);
  const list = specs.map((spec) => `  ${spec.name.padEnd(COMMAND_COLUMN)} ${inLang(spec.summary, lang)}${aliasNote(spec, lang)}`);
  return [
    word('hindsight-es: long-term memory for LLM agents', 'hindsight-es：大模型智能体的长期记忆'),
    `${word('Usage', '用法')}: hindsight-es ${word('COMMAND [options]', '命令 [选项]')}`,
    list.join('\n'),
    word(
      '"hindsight-es COMMAND --help" tells more. From a clone, "npm start" runs "serve --local".',
      '“hindsight-es 命令 --help” 查看详情；在源码目录中，“npm start” 即 “serve --local”。',
    ),
    `${exitLine(lang)}\n`,
  ].join('\n\n');
}

function aliasNote({ aliases }: CommandSpec, lang: Lang): string {
  if (aliases === undefined) return '';
  return lang === 'zh' ? `（别名 ${aliases.join('、')}）` : ` (alias ${aliases.join(', ')})`;
}

function exitLine(lang: Lang): string {
  const codes = EXIT_WORDS.map(([code, words]) => `  ${code}  ${inLang(words, lang)}`);
  return `${lang === 'zh' ? '退出码' : 'Exit codes'}:\n${codes.join('\n')}`;
}

function optionLine(name: string, option: CommandOption, lang: Lang): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const left = `${short}--${name}${option.type === 'string' ? ` ${option.value ?? 'VALUE'}` : ''}`;
  return `  ${left.padEnd(OPTION_COLUMN)} ${inLang(option.description, lang)}`;
}
