/** What a command declares; commands.ts parses its options and prints its help from this. */
import type { ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  /** Option, as node:util parseArgs takes it, with its help line. */
  readonly options: Readonly<Record<string, Options[string] & { readonly description: string }>>;
  readonly examples: readonly string[];
  /** Resolves to the exit code. Loads what it needs itself, so that --help and the other commands do not wait for it. */
  run(values: OptionValues): Promise<number>;
}

/** A command line that cannot be followed; the entry prints the sentence and leaves with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Whose --help tells more. */
  readonly command: string | undefined;

  constructor(message: string, command?: string) {
    super(message);
    this.command = command;
  }
}
