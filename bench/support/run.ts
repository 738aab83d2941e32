/** How every bench begins and ends: options, engine, work, results, clean-up, one sentence on failure. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BenchEngine } from './engine.ts';
import { machineLine, type Machine } from './machine.ts';
import { helpOf, parseOptions, UsageError, type BenchCommand, type Options } from './options.ts';
import { progress } from './progress.ts';
import { writeResultFile, writeResults } from './results.ts';

export interface BenchRun {
  readonly options: Options;
  readonly engine: BenchEngine;
  readonly machine: Machine;
  /** A folder of this run, removed at the end unless the bench keeps one. */
  readonly folder: string;
  /** True when Elasticsearch was given by its URL: its data is not in `folder`. */
  readonly foreignEngine: boolean;
  /** An index prefix of this run; every index under it is removed at the end. */
  readonly prefix: (name: string) => string;
  /** Prints a line of the report. */
  readonly print: (line: string) => void;
  /** A further file beside the results, e.g. a plot; written with them. */
  readonly attach: (file: string, text: string) => void;
}

export interface BenchSetup {
  /** Sees the options before anything is started. */
  readonly check?: (options: Options) => void;
  /** A folder that outlives the run, instead of a temporary one: the managed engine's data, the service's DATA_DIR, the bench's own notes. */
  readonly keptFolder?: (options: Options) => string;
}

/** What a bench hands back: stands in bench/results/<name>.json beside the machine line. */
export type BenchFigures = Readonly<Record<string, unknown>>;

/** Runs a bench as the main program and sets the exit code. */
export async function runBench(
  command: BenchCommand,
  work: (run: BenchRun) => Promise<BenchFigures>,
  setup: BenchSetup = {},
): Promise<void> {
  try {
    const options = parseOptions(command, process.argv.slice(2));
    if (options === undefined) process.stdout.write(helpOf(command));
    else {
      setup.check?.(options);
      await runWith(command, options, work, setup.keptFolder?.(options));
    }
  } catch (error) {
    if (error instanceof UsageError) process.stderr.write(`${error.message}; see npm run ${command.name} -- --help\n`);
    else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function runWith(
  command: BenchCommand,
  options: Options,
  work: (run: BenchRun) => Promise<BenchFigures>,
  keptFolder: string | undefined,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130)); // children die in their exit hooks
  const folder = keptFolder ?? mkdtempSync(join(tmpdir(), 'hindsight-es-bench-'));
  mkdirSync(folder, { recursive: true });
  const engineUrl = options.optional('engine') ?? process.env['ELASTICSEARCH_URL'];
  const engine = await BenchEngine.acquire(engineUrl, folder);
  const prefixes: string[] = [];
  const attached = new Map<string, string>();
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
      foreignEngine: engineUrl !== undefined,
      prefix: (name) => {
        const prefix = `bench${stamp}${name}`;
        prefixes.push(prefix);
        return prefix;
      },
      print,
      attach: (file, text) => void attached.set(file, text),
    });
    if (options.flag('no-results')) return;
    const out = options.optional('out');
    const target = out === undefined ? undefined : resolve(out);
    progress(`results: ${writeResults(command.name.replace(/^bench:/, ''), { machine, ...figures }, target)}`);
    for (const [file, text] of attached) progress(`results: ${writeResultFile(file, text, target)}`);
  } finally {
    if (!options.flag('keep')) for (const prefix of prefixes) await engine.drop(prefix).catch(() => undefined);
    await engine.release();
    if (!options.flag('keep') && keptFolder === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
