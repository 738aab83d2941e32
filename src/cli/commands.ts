/** The commands of the program, one entry each; --help is made from them. */
import { parseArgs } from 'node:util';
import { CONFIG_VARIABLES } from '../config.ts';
import { UsageError, type CommandSpec, type OptionValues } from './command-spec.ts';
import { serve } from './serve.ts';
import { token } from './token.ts';

export { UsageError } from './command-spec.ts';

const OPTION_COLUMN = 24;
const VARIABLE_COLUMN = 28;

export interface Command {
  readonly name: string;
  readonly summary: string;
  help(): string;
  /** Resolves to the exit code. Throws UsageError for options it does not know. */
  run(args: readonly string[]): Promise<number>;
}

function define(spec: CommandSpec): Command {
  return {
    name: spec.name,
    summary: spec.summary,
    help: () => helpOf(spec),
    run: async (args) => spec.run(parse(spec, args)),
  };
}

function parse(spec: CommandSpec, args: readonly string[]): OptionValues {
  const options = Object.fromEntries(Object.entries(spec.options).map(([name, { description: _d, ...option }]) => [name, option]));
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values as OptionValues;
  } catch (error) {
    // Node's own words, the first sentence of them: "Unknown option '--foo'"
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new UsageError(`${sentence.slice(0, 200).replace(/\n.*/s, '').replace(/\.$/, '')}`, spec.name);
  }
}

export const commands: readonly Command[] = [define(serve), define(token)];

export function overview(): string {
  const list = commands.map((c) => `  ${c.name.padEnd(10)} ${c.summary}`).join('\n');
  return `hindsight-es: long-term memory for LLM agents\n\nUsage: hindsight-es COMMAND [options]\n\n${list}\n\n"hindsight-es COMMAND --help" tells more. From a clone, "npm start" runs "serve --local".\n`;
}

function helpOf(spec: CommandSpec): string {
  const options = Object.entries(spec.options).map(
    ([name, o]) => `  --${`${name}${o.type === 'string' ? ' VALUE' : ''}`.padEnd(OPTION_COLUMN)} ${o.description}`,
  );
  const variables = spec.name === 'serve' ? `\nEnvironment:\n${CONFIG_VARIABLES.map(variableLine).join('\n')}\n` : '';
  return `${spec.summary}\n\nUsage: hindsight-es ${spec.usage}\n\nOptions:\n${options.join('\n')}\n${variables}\nExamples:\n${spec.examples.map((e) => `  ${e}`).join('\n')}\n`;
}

function variableLine(v: (typeof CONFIG_VARIABLES)[number]): string {
  const byDefault = v.default ?? v.derived;
  const notes = [byDefault === undefined ? '' : `default: ${byDefault}`, v.secret === true ? `or ${v.name}_FILE` : ''].filter(Boolean);
  return `  ${v.name.padEnd(VARIABLE_COLUMN)} ${v.description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}
