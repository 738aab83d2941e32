/** The pieces a text is compared by: values in one spelling each, and the words between them. */

export type TokenType =
  | 'word'
  | 'han'
  | 'number'
  | 'quantity'
  | 'money'
  | 'percent'
  | 'ordinal'
  | 'version'
  | 'code'
  | 'date'
  | 'weekday'
  | 'time'
  | 'not'
  | 'degree'
  | 'sign';

export interface Token {
  readonly type: TokenType;
  /** One spelling for all that mean the same: `quantity km 5`, `time 15:00`; words in lower case. */
  readonly text: string;
  /** Where it stands in the plain text, UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Written with a capital, or all capitals: perhaps a name. */
  readonly capital: boolean;
}

/** A value that is written in several ways; patterns are sticky, over plain text (relation-text). */
export interface ValueRule {
  readonly type: TokenType;
  readonly pattern: RegExp;
  /** The one spelling, or undefined when it is no such value after all. */
  readonly read: (groups: Readonly<Record<string, string | undefined>>, whole: string) => string | undefined;
}

/** Types whose difference is a different value of the same thing, and never another word for it. */
export const MEASURES: ReadonlySet<TokenType> = new Set(['number', 'quantity', 'money', 'percent', 'version', 'date', 'weekday', 'time']);
