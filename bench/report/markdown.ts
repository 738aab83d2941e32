/** Markdown tables for README and terminal. Pure. */
import type { Estimate } from '../support/bootstrap.ts';

/** A table with padded columns, as prettier leaves it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, i) => Math.max(3, ...[cell, ...rows.map((row) => row[i] ?? '')].map(widthOf)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${widths.map((width, i) => (cells[i] ?? '') + ' '.repeat(width - widthOf(cells[i] ?? ''))).join(' | ')} |`;
  return [lineOf(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(lineOf)].join('\n');
}

/** Columns of a monospaced terminal: Han and full-width characters take two. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += /[\u2E80-\u9FFF\uF900-\uFAFF\uFF00-\uFF60]/.test(char) ? 2 : 1;
  return width;
}

/** ".888". */
export function share(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(3).replace(/^(-?)0\./, '$1.');
}

/** ".888 [.860, .910]". */
export function withInterval({ mean, low, high }: Estimate): string {
  return Number.isNaN(mean) ? '–' : `${share(mean)} [${share(low)}, ${share(high)}]`;
}

/** "+.012 [-.001, +.020]". */
export function difference({ mean, low, high }: Estimate): string {
  const signed = (value: number): string => (value >= 0 ? `+${share(value)}` : share(value));
  return Number.isNaN(mean) ? '–' : `${signed(mean)} [${signed(low)}, ${signed(high)}]`;
}
