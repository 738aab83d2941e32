#!/usr/bin/env node
/** The entry: picks a command, and turns what goes wrong at start-up into one sentence and a non-zero exit. */
import { commands, overview, type Command } from './cli/commands.ts';
import { assertNodeVersion } from './config.ts';
import { toHindsightError } from './errors.ts';

async function main(args: readonly string[]): Promise<void> {
  assertNodeVersion();
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(overview());
    return;
  }
  const command: Command | undefined = commands.find((c) => c.name === name);
  if (command === undefined) {
    process.stderr.write(`hindsight-es: there is no command "${name.slice(0, 40)}"; try "hindsight-es --help"\n`);
    process.exitCode = 2;
    return;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(command.help());
    return;
  }
  process.exitCode = await command.run(rest);
}

main(process.argv.slice(2)).catch((thrown: unknown) => {
  const error = toHindsightError(thrown);
  const detail = error.code === 'ERR_INTERNAL' && thrown instanceof Error ? `: ${thrown.message}` : '';
  process.stderr.write(`hindsight-es: ${error.message}${detail}\n`);
  process.exit(1);
});
