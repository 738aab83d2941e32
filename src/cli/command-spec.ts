/** What a command declares; commands.ts parses its options and prints its help from this. */
import type { ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  /** Option, as node:util parseArgs takes it, with its help line. */
  readonly options: Readonly<Record<string, Options[string] & { readonly description: string }>>;
  readonly examples: readonly string[];
  /** Resolves to the exit code. */
  run(values: Readonly<Record<string, string | boolean | undefined>>): Promise<number>;
}
