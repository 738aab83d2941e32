/** What a command declares; command-line.ts parses its options and help.ts prints its help from this. */
import type { ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export const LANGS = ['en', 'zh'] as const;
export type Lang = (typeof LANGS)[number];
/** Text for people; a plain string is the same in both languages. */
export type Words = string | Readonly<Record<Lang, string>>;

export const inLang = (words: Words, lang: Lang): string => (typeof words === 'string' ? words : words[lang]);

/** Where a command runs: its streams, language and environment; tests bring their own. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly lang: Lang;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
}

/** One call of a command. */
export interface Invocation extends Surroundings {
  /** Words that are no options, in order. */
  readonly words: readonly string[];
  /** Options that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

export interface CommandOption {
  readonly type: Options[string]['type'];
  readonly multiple?: true;
  readonly short?: string;
  readonly description: Words;
  /** Placeholder in the help, VALUE by default. */
  readonly value?: string;
}

export interface CommandSpec {
  readonly name: string;
  /** Other names it answers to. */
  readonly aliases?: readonly string[];
  readonly summary: Words;
  /** Without the program's name. */
  readonly usage: string;
  /** Whether words that are no options are taken; none when absent. */
  readonly takesWords?: boolean;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** A paragraph before the examples. */
  readonly notes?: Words;
  /** Environment variables, with what they mean. */
  readonly variables?: (lang: Lang) => Promise<readonly (readonly [name: string, description: string])[]>;
  readonly examples: readonly string[];
  /** Resolves to the exit code. Loads what it needs itself, so that --help and the other commands do not wait for it. */
  run(values: OptionValues, invocation: Invocation): Promise<number>;
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
