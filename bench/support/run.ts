/** How every bench begins and ends: options, engine, work, results, clean-up, one sentence on failure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchEngine } from './engine.ts';
import { machineLine, type Machine } from './machine.ts';
import { helpOf, parseOptions, UsageError, type BenchCommand, type Options } from './options.ts';
import { progress } from './progress.ts';
import { writeResults } from './results.ts';

export interface BenchRun {
  readonly options: Options;
  readonly engine: BenchEngine;
  readonly machine: Machine;
  /** A folder of this run, removed at the end. */
  readonly folder: string;
  /** An index prefix of this run; every index under it is removed at the end. */
  readonly prefix: (name: string) => string;
  /** Prints a line of the report. */
  readonly print: (line: string) => void;
}

/** What a bench hands back: stands in bench/results/<name>.json beside the machine line. */
export type BenchFigures = Readonly<Record<string, unknown>>;

/** Runs a bench as the main program and sets the exit code; `check` sees the options before anything is started. */
export async function runBench(
  command: BenchCommand,
  work: (run: BenchRun) => Promise<BenchFigures>,
  check: (options: Options) => void = () => undefined,
): Promise<void> {
  try {
    const options = parseOptions(command, process.argv.slice(2));
    if (options === undefined) process.stdout.write(helpOf(command));
    else {
      check(options);
      await runWith(command, options, work);
    }
  } catch (error) {
    if (error instanceof UsageError) process.stderr.write(`${error.message}; see npm run ${command.name} -- --help\n`);
    else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function runWith(command: BenchCommand, options: Options, work: (run: BenchRun) => Promise<BenchFigures>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130)); // children die in their exit hooks
  const folder = mkdtempSync(join(tmpdir(), 'hindsight-es-bench-'));
  const engine = await BenchEngine.acquire(options.optional('engine') ?? process.env['ELASTICSEARCH_URL'], folder);
  const prefixes: string[] = [];
  const stamp = Math.random().toString(36).slice(2, 8);
  try {
    const machine = await machineLine(engine, command.name, process.argv.slice(2));
    const print = (line: string): void => void process.stdout.write(`${line}\n`);
    print(machine.line);
    const figures = await work({
      options,
      engine,
      machine,
      folder,
      prefix: (name) => {
        const prefix = `bench${stamp}${name}`;
        prefixes.push(prefix);
        return prefix;
      },
      print,
    });
    if (!options.flag('no-results')) progress(`results: ${writeResults(command.name.replace(/^bench:/, ''), { machine, ...figures })}`);
  } finally {
    if (!options.flag('keep')) for (const prefix of prefixes) await engine.drop(prefix).catch(() => undefined);
    await engine.release();
    if (!options.flag('keep')) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
