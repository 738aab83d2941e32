/** The shape of a printer: an answer of the service in, a text and an exit code out. */
import type { Lang } from '../command-spec.ts';
import type { Pen } from './text.ts';

export interface Printed {
  readonly text: string;
  readonly exitCode: number;
}

export type Printer<T> = (answer: T, pen: Pen, lang: Lang) => Printed;
