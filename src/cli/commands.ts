/** The commands of the program: those written by hand, and one for each operation that has none of its own. */
import type { AnyOperation } from '../operations/define.ts';
import { bench } from './bench.ts';
import { parseCommandLine } from './command-line.ts';
import { inLang, UsageError, type CommandSpec, type Lang, type Surroundings } from './command-spec.ts';
import { doctor } from './doctor.ts';
import { helpOf, overviewOf } from './help.ts';
import { keys } from './keys.ts';
import { serve } from './serve.ts';
import { mcp } from './mcp.ts';
import { OPERATION_LOADERS } from './operation-loaders.ts';
import { nearest } from './suggest.ts';
import { token } from './token.ts';
import { exportCommand, importCommand } from './transfer-commands.ts';
import { tune } from './tune.ts';

export interface Command {
  readonly name: string;
  readonly spec: CommandSpec;
  help(lang: Lang): Promise<string>;
  /** Resolves to the exit code. Throws UsageError for options it does not know. */
  run(args: readonly string[], surroundings: Surroundings): Promise<number>;
}

/** Written by hand; they stand in the list before and after those of the operations. */
const FIRST: readonly CommandSpec[] = [serve, token];
const LAST: readonly CommandSpec[] = [importCommand, exportCommand, keys, doctor, bench, tune, mcp];

/** Every command, in the order of the overview. */
export async function loadCommands(): Promise<readonly Command[]> {
  return [...FIRST, ...(await derivedSpecs()), ...LAST].map(define);
}

/** By name or alias. Throws UsageError, with the nearest name, for what is none; loads the operation that it is of, and no other. */
export async function findCommand(name: string, lang: Lang): Promise<Command> {
  const answersTo = (spec: CommandSpec): boolean => spec.name === name || (spec.aliases ?? []).includes(name);
  const own = [...FIRST, ...LAST].find(answersTo);
  if (own !== undefined) return define(own);
  const load = OPERATION_LOADERS.get(name);
  if (load !== undefined) return define(await derivedSpec(await load()));
  const known = (await loadCommands()).flatMap((c) => [c.name, ...(c.spec.aliases ?? [])]);
  const near = nearest(name, known);
  const shown = name.slice(0, 40);
  const hint = near === undefined ? '' : inLang({ en: `; did you mean "${near}"?`, zh: `；是否想用 "${near}"？` }, lang);
  throw new UsageError(inLang({ en: `there is no command "${shown}"${hint}`, zh: `没有命令 "${shown}"${hint}` }, lang));
}

export async function overview(lang: Lang): Promise<string> {
  return overviewOf(
    (await loadCommands()).map(({ spec }) => spec),
    lang,
  );
}

function define(spec: CommandSpec): Command {
  return {
    name: spec.name,
    spec,
    help: (lang) => helpOf(spec, lang),
    run: async (args, surroundings) => {
      const { values, words, lists } = parseCommandLine(spec, args, surroundings.lang);
      return spec.run(values, { ...surroundings, words, lists });
    },
  };
}

/** One for each operation of the registry; a command written by hand takes the place of the one with its name. */
async function derivedSpecs(): Promise<readonly CommandSpec[]> {
  const [{ operations }, { commandName }] = await Promise.all([import('../operations/index.ts'), import('./operation-command.ts')]);
  const taken = new Set([...FIRST, ...LAST].map((spec) => spec.name));
  return Promise.all(operations.filter((operation) => !taken.has(commandName(operation))).map(derivedSpec));
}

/** `forget`, `confirm` and `release` are derived too, with questions around them; `audit` has a word of its own. */
async function derivedSpec(operation: AnyOperation): Promise<CommandSpec> {
  if (operation.name === 'memory_audit') return (await import('./audit.ts')).auditCommand();
  if (operation.name === 'memory_forget') return (await import('./forget.ts')).forgetCommand();
  if (operation.name === 'memory_confirm' || operation.name === 'memory_release')
    return (await import('./review.ts')).reviewCommand(operation);
  return (await import('./operation-command.ts')).operationCommand(operation);
}
