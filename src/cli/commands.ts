/** The commands of the program: those written by hand, and one for each operation that has none of its own. */
import { bench } from './bench.ts';
import { parseCommandLine } from './command-line.ts';
import { inLang, UsageError, type CommandSpec, type Lang, type Surroundings } from './command-spec.ts';
import { doctor } from './doctor.ts';
import { helpOf, overviewOf } from './help.ts';
import { serve } from './serve.ts';
import { mcp } from './mcp.ts';
import { nearest } from './suggest.ts';
import { token } from './token.ts';
import { exportCommand, importCommand } from './transfer-commands.ts';

export interface Command {
  readonly name: string;
  readonly spec: CommandSpec;
  help(lang: Lang): Promise<string>;
  /** Resolves to the exit code. Throws UsageError for options it does not know. */
  run(args: readonly string[], surroundings: Surroundings): Promise<number>;
}

/** Written by hand; they stand in the list before and after those of the operations. */
const FIRST: readonly CommandSpec[] = [serve, token];
const LAST: readonly CommandSpec[] = [importCommand, exportCommand, doctor, bench, mcp];

/** Every command, in the order of the overview. */
export async function loadCommands(): Promise<readonly Command[]> {
  return [...FIRST, ...(await derivedSpecs()), ...LAST].map(define);
}

/** By name or alias. Throws UsageError, with the nearest name, for what is none; loads the operations only where it has to. */
export async function findCommand(name: string, lang: Lang): Promise<Command> {
  const answersTo = (spec: CommandSpec): boolean => spec.name === name || (spec.aliases ?? []).includes(name);
  const own = [...FIRST, ...LAST].find(answersTo);
  const spec = own ?? (await derivedSpecs(name))[0];
  if (spec !== undefined) return define(spec);
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

/**
 * One for each operation of the registry, or for the one that answers to `name` alone, because reading a schema takes its time. A command
 * written by hand takes the place of the one with its name; `forget`, `confirm` and `release` are derived too, with
 * questions around them.
 */
async function derivedSpecs(name?: string): Promise<readonly CommandSpec[]> {
  const [{ operations }, { commandName, operationCommand }, { reviewCommand }] = await Promise.all([
    import('../operations/index.ts'),
    import('./operation-command.ts'),
    import('./review.ts'),
  ]);
  const taken = new Set([...FIRST, ...LAST].map((spec) => spec.name));
  const wanted = operations.filter((operation) => {
    const own = commandName(operation);
    return !taken.has(own) && (name === undefined || name === own || (operation.cli?.aliases ?? []).includes(name));
  });
  return Promise.all(
    wanted.map(async (operation) =>
      operation.name === 'memory_forget'
        ? (await import('./forget.ts')).forgetCommand()
        : (reviewCommand(operation) ?? operationCommand(operation)),
    ),
  );
}
