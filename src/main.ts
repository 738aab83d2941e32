#!/usr/bin/env node
/** The entry: picks a command, and turns what goes wrong into one sentence and an exit code. */
import { langOption } from './cli/command-line.ts';
import { UsageError, type Lang, type Surroundings } from './cli/command-spec.ts';
import { findCommand, overview } from './cli/commands.ts';
import { reportFailure } from './cli/failure.ts';
import { EXIT } from './cli/exit-codes.ts';
import { assertNodeVersion } from './config/node-version.ts';
import { languageOf } from './config/terminal.ts';

async function main(args: readonly string[], surroundings: Surroundings): Promise<number> {
  assertNodeVersion();
  const rest = args.filter((arg, i) => !isLang(arg) && !(i > 0 && args[i - 1] === '--lang'));
  const [name, ...own] = rest;
  const { lang, stdout } = surroundings;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const [about] = own;
    stdout.write(about === undefined || about.startsWith('-') ? await overview(lang) : await (await findCommand(about, lang)).help(lang));
    return EXIT.ok;
  }
  if (name === '--version' || name === '-v') {
    const { packageVersion } = await import('./cli/package-version.ts');
    stdout.write(`${packageVersion()}\n`);
    return EXIT.ok;
  }
  if (name.startsWith('-')) throw new UsageError(`the command's name comes first, not ${name.slice(0, 40)}`);
  const command = await findCommand(name, lang);
  if (asksForHelp(own)) {
    stdout.write(await command.help(lang));
    return EXIT.ok;
  }
  return command.run(own, surroundings);
}

const isLang = (arg: string): boolean => arg === '--lang' || arg.startsWith('--lang=');

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h');
}

// A reader that goes away (`serve | head`, a closed terminal) must not take the service down.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const args = process.argv.slice(2);
let lang: Lang = languageOf(process.env);
const surroundings = (): Surroundings => ({
  env: process.env,
  lang,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
});
try {
  lang = langOption(args) ?? lang;
  process.exitCode = await main(args, surroundings());
} catch (thrown) {
  process.exit(reportFailure(thrown, args.includes('--json'), surroundings()));
}
