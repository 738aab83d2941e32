/** Answers of the service as people read them: one printer an operation, a plain one for those that have none. */
import type { Invocation } from '../command-spec.ts';
import { EXIT } from '../exit-codes.ts';
import { printAudit, printAuditVerify } from './audit.ts';
import { printContext } from './context.ts';
import { printForgotten, printUpdated, printWritten } from './changes.ts';
import { printHistory, printHits, printList, printMemory } from './memories.ts';
import type { Printed, Printer } from './printer.ts';
import { printDecision, reviewListPrinter } from './review.ts';
import { printStats } from './state.ts';
import { printSummary } from './summary.ts';
import { inert, penFor } from './text.ts';

const PRINTERS: Readonly<Record<string, Printer<never>>> = {
  memory_write: printWritten,
  memory_search: printHits,
  memory_context: printContext,
  memory_get: printMemory,
  memory_list: printList,
  memory_update: printUpdated,
  memory_restore: printUpdated,
  memory_history: printHistory,
  memory_forget: printForgotten,
  memory_confirmations: reviewListPrinter('confirm'),
  memory_quarantine: reviewListPrinter('release'),
  memory_confirm: printDecision,
  memory_release: printDecision,
  memory_audit: printAudit,
  memory_audit_verify: printAuditVerify,
  memory_summarize: printSummary,
  memory_stats: printStats,
};

/** Prints to stdout: with `json` the service's bytes as they came. Answers the exit code, the same in both forms. */
export function printAnswer(operation: string, text: string, json: boolean, invocation: Invocation): number {
  // the service checked the answer against the operation's schema, whose type the printer takes
  const printer = PRINTERS[operation] ?? printPlain;
  const printed = printer(JSON.parse(text) as never, penFor(invocation), invocation.lang);
  invocation.stdout.write(json ? `${text.trimEnd()}\n` : printed.text);
  return printed.exitCode;
}

/** `key: value` lines, indented where values have parts. */
export function printPlain(answer: unknown): Printed {
  return { text: `${lines(answer, '').join('\n')}\n`, exitCode: EXIT.ok };
}

function lines(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return value.flatMap((part: unknown) => marked(lines(part, `${indent}  `), indent));
  if (typeof value !== 'object' || value === null) return [`${indent}${inert(String(value))}`];
  return Object.entries(value as Record<string, unknown>).flatMap(([key, part]) =>
    typeof part === 'object' && part !== null
      ? [`${indent}${inert(key)}:`, ...lines(part, `${indent}  `)]
      : [`${indent}${inert(key)}: ${inert(String(part))}`],
  );
}

function marked(part: string[], indent: string): string[] {
  const [first = '', ...rest] = part;
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
}
