/** Text for a terminal: made inert first, then cut, aligned and coloured; every human-readable output goes through here. */
import { wantsColours } from '../../config/terminal.ts';
import type { Surroundings } from '../command-spec.ts';

/**
 * C0 and C1 controls but line feed and tab, DEL, bidirectional controls, line and paragraph separators, the byte order mark and Unicode
 * tags: what could move the cursor, hide or reorder text. A stored memory may hold any of them.
 */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** The text with every such character shown as its code, so that it can do nothing. */
export function inert(text: string): string {
  return text.replace(UNSAFE, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same in one line. */
export function oneLine(text: string): string {
  return inert(text).replace(/\s+/g, ' ').trim();
}

/** East Asian wide and full-width characters take two columns (Unicode TR 11, the ranges that matter here); marks take none. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += /\p{M}/u.test(char) ? 0 : isWide(char) ? 2 : 1;
  return columns;
}

function isWide(char: string): boolean {
  return /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u.test(
    char,
  );
}

/** At most `columns` wide, with … where something was cut. */
export function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const char of text) {
    const width = columnsOf(char);
    if (used + width > columns - 1) break;
    kept += char;
    used += width;
  }
  return `${kept}…`;
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

const SGR = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Colour = keyof typeof SGR;

export interface Pen {
  /** Columns of the line; lines are cut only at a terminal. */
  readonly columns: number;
  readonly isTerminal: boolean;
  paint(colour: Colour, text: string): string;
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER;
const NARROWEST = 40;

/** Colours and cuts at a terminal, neither elsewhere. */
export function penFor({ env, stdout }: Pick<Surroundings, 'env' | 'stdout'>): Pen {
  const isTerminal = stdout.isTTY === true;
  const coloured = isTerminal && wantsColours(env);
  return {
    columns: isTerminal ? Math.max(NARROWEST, stdout.columns ?? 80) : UNBOUNDED,
    isTerminal,
    paint: (colour, text) => (coloured ? `\u001b[${SGR[colour]}m${text}\u001b[0m` : text),
  };
}

/** Columns as wide as their widest cell, two spaces apart; the last one is cut at the edge of the terminal. */
export function table(pen: Pen, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(...[title, ...rows.map((row) => row[i] ?? '')].map(columnsOf)));
  const line = (cells: readonly string[], colour?: Colour): string => {
    const fixed = cells.slice(0, -1).map((cell, i) => pad(cell, widths[i] ?? 0));
    const used = fixed.reduce((sum, cell) => sum + columnsOf(cell) + 2, 0);
    const last = cut(cells.at(-1) ?? '', Math.max(NARROWEST / 2, pen.columns - used));
    const text = [...fixed, last].join('  ').trimEnd();
    return colour === undefined ? text : pen.paint(colour, text);
  };
  return `${[line(head, 'dim'), ...rows.map((row) => line(row))].join('\n')}\n`;
}
