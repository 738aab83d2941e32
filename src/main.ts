#!/usr/bin/env node
/** The entry: picks a command, and turns what goes wrong at start-up into one sentence and a non-zero exit. */
import { commands, overview, UsageError } from './cli/commands.ts';
import { assertNodeVersion } from './config.ts';
import { toHindsightError } from './errors.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function main(args: readonly string[]): Promise<number> {
  assertNodeVersion();
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(overview());
    return 0;
  }
  const command = commands.find((c) => c.name === name);
  if (command === undefined) throw new UsageError(`there is no command "${name.slice(0, 40)}"`);
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(command.help());
    return 0;
  }
  return command.run(rest);
}

/** One line, whatever it was that went wrong. */
function fail(thrown: unknown): never {
  if (thrown instanceof UsageError) {
    const help = thrown.command === undefined ? 'hindsight-es --help' : `hindsight-es ${thrown.command} --help`;
    process.stderr.write(`hindsight-es: ${thrown.message}; try "${help}"\n`);
    process.exit(EXIT_USAGE);
  }
  const error = toHindsightError(thrown);
  const detail = error.code === 'ERR_INTERNAL' && thrown instanceof Error ? `: ${thrown.message}` : '';
  process.stderr.write(`hindsight-es: ${error.message}${detail}\n`);
  process.exit(EXIT_FAILED);
}

// A reader that goes away (`serve | head`, a closed terminal) must not take the service down.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
}, fail);
