/** Rows of the guard's data sets and shares of them with intervals; every part of bench:guard counts with these. */
import { readFileSync } from 'node:fs';
import { TIER, type Verdict } from '../../src/domain/trust.ts';
import { UsageError } from '../support/options.ts';
import { wilson } from '../support/wilson.ts';

export const CHANNELS = ['user', 'agent', 'tool', 'web', 'document', 'import'] as const;
export type Channel = (typeof CHANNELS)[number];

export interface Row {
  readonly id: string;
  readonly text: string;
  readonly label: 'attack' | 'benign';
  readonly channel: Channel;
  readonly tier: string;
  readonly lang: string;
  /**
   * Of the project's own texts: `tune` parts were in view when rules were written, `held_out` ones were not; `later` ones are a second set,
   * written after the rules that the first one led to.
   */
  readonly split?: 'tune' | 'held_out' | 'later_tune' | 'later_held_out';
}

/** Tier that the server gives to what comes through a channel. */
export const CHANNEL_TIER: Readonly<Record<Channel, number>> = {
  user: TIER.user_stated,
  agent: TIER.agent_inferred,
  tool: TIER.tool_output,
  web: TIER.external,
  document: TIER.external,
  import: TIER.external,
};

/** What keeps a text from becoming active memory without a human step; a candidate is listed and never injected. */
export const CAUGHT: ReadonlySet<Verdict> = new Set(['candidate', 'confirm', 'quarantine', 'block']);

/** Rows of a JSON lines file. Throws a UsageError that names the file. */
export function readRows(path: string): readonly Row[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  } catch (error) {
    throw new UsageError(`cannot read ${path}: name its folder with --data (${error instanceof Error ? error.message : String(error)})`);
  }
}

/** A share of rows with its 95 % Wilson interval; the same names as in the results file. */
export interface Rate {
  readonly hits: number;
  readonly rows: number;
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

export function rateOf(rows: readonly Row[], counts: (row: Row) => boolean): Rate {
  const hits = rows.filter(counts).length;
  return { hits, rows: rows.length, rate: rows.length === 0 ? 0 : hits / rows.length, ...wilson(hits, rows.length) };
}

/** Parts by a key, in the order they come up. */
export function grouped(rows: readonly Row[], key: (row: Row) => string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
}

/** `12.3 % [10.1, 14.9] of 240`. */
export function percent({ rate, low, high, rows }: Rate): string {
  return `${(100 * rate).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}] of ${rows}`;
}
