/** The commands of the program, one entry each; --help is made from them. */
import { parseArgs } from 'node:util';
import { CONFIG_VARIABLES } from '../config.ts';
import type { CommandSpec } from './command-spec.ts';
import { serve } from './serve.ts';
import { token } from './token.ts';

export interface Command {
  readonly name: string;
  readonly summary: string;
  help(): string;
  run(args: readonly string[]): Promise<number>;
}

function define(spec: CommandSpec): Command {
  return {
    name: spec.name,
    summary: spec.summary,
    help: () => helpOf(spec),
    run: async (args) => {
      let values: Readonly<Record<string, string | boolean | undefined>>;
      try {
        const options = Object.fromEntries(Object.entries(spec.options).map(([name, { description: _d, ...option }]) => [name, option]));
        values = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values as typeof values;
      } catch (error) {
        process.stderr.write(`hindsight-es ${spec.name}: ${(error as Error).message}; try "hindsight-es ${spec.name} --help"\n`);
        return 2;
      }
      return spec.run(values);
    },
  };
}

export const commands: readonly Command[] = [define(serve), define(token)];

export function overview(): string {
  const list = commands.map((c) => `  ${c.name.padEnd(10)} ${c.summary}`).join('\n');
  return `hindsight-es: long-term memory for LLM agents\n\nUsage: hindsight-es COMMAND [options]\n\n${list}\n\n"hindsight-es COMMAND --help" tells more. From a clone, "npm start" runs "serve --local".\n`;
}

function helpOf(spec: CommandSpec): string {
  const options = Object.entries(spec.options).map(
    ([name, o]) => `  --${`${name}${o.type === 'string' ? ' VALUE' : ''}`.padEnd(24)} ${o.description}`,
  );
  const variables =
    spec.name === 'serve'
      ? `\nEnvironment:\n${CONFIG_VARIABLES.map((v) => `  ${v.name.padEnd(28)} ${v.description}${v.default === undefined ? '' : ` (default: ${v.default})`}`).join('\n')}\n`
      : '';
  return `${spec.summary}\n\nUsage: hindsight-es ${spec.usage}\n\nOptions:\n${options.join('\n')}\n${variables}\nExamples:\n${spec.examples.map((e) => `  ${e}`).join('\n')}\n`;
}
