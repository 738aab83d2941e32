/** Command line of a bench: one table gives parsing, defaults and --help. */
import { parseArgs } from 'node:util';

export interface BenchOption {
  readonly description: string;
  /** Shown in the help and taken when the option is absent; options without one may be undefined. */
  readonly default?: string;
  /** A switch without a value. */
  readonly flag?: true;
}

export interface BenchCommand {
  /** Name of the npm script, e.g. bench:search. */
  readonly name: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, BenchOption>>;
}

/** Options every bench has. */
export const COMMON_OPTIONS = {
  engine: {
    description: 'URL of an Elasticsearch to use (also ELASTICSEARCH_URL); without it a managed local one is started and thrown away',
  },
  profile: { description: 'folder for CPU profiles of the service (node --cpu-prof), written when it stops' },
  keep: { description: 'keep the indices and files of the run', flag: true },
  'no-results': { description: 'write no file to bench/results', flag: true },
} as const satisfies Record<string, BenchOption>;

export class UsageError extends Error {}

/** The values of a command line; wrong ones throw a UsageError that names the option. */
export class Options {
  readonly #values: Readonly<Record<string, string | boolean | undefined>>;

  constructor(values: Readonly<Record<string, string | boolean | undefined>>) {
    this.#values = values;
  }

  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new UsageError(`--${name} needs a value`);
    return value;
  }

  optional(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Whole number of at least 1. */
  count(name: string): number {
    return toCount(name, this.text(name));
  }

  counts(name: string): number[] {
    return this.list(name).map((part) => toCount(name, part));
  }

  list(name: string): string[] {
    return this.text(name)
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
}

function toCount(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) throw new UsageError(`--${name} takes whole numbers from 1, not "${text}"`);
  return Number(text);
}

/** Parses the arguments after the script; undefined when --help was asked for. Throws a UsageError for unknown options. */
export function parseOptions(command: BenchCommand, args: readonly string[]): Options | undefined {
  const specs = Object.entries(command.options).map(([name, o]) => [name, { type: o.flag === true ? 'boolean' : 'string' }] as const);
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args: [...args], options: { ...Object.fromEntries(specs), help: { type: 'boolean', short: 'h' } } }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values['help'] === true) return undefined;
  const defaults = Object.fromEntries(Object.entries(command.options).map(([name, o]) => [name, o.default]));
  return new Options({ ...defaults, ...values });
}

/** The text of --help. */
export function helpOf(command: BenchCommand): string {
  const rows = Object.entries(command.options).map(([name, o]) => ({
    left: `--${name}${o.flag === true ? '' : ` ${name.toUpperCase().replaceAll('-', '_')}`}`,
    right: o.default === undefined ? o.description : `${o.description} (default: ${o.default})`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length));
  const lines = rows.map((row) => `  ${row.left.padEnd(width)}  ${row.right}`);
  return `${command.name}: ${command.summary}\n\nUsage: npm run ${command.name} -- [options]\n\n${lines.join('\n')}\n`;
}
