/** What the text rules find: true positives by tier and source group, false positives on hard and ordinary benign text. */
import type { TextJudge } from '../../src/guard/screening/rescan.ts';
import { CAUGHT, CHANNEL_TIER, grouped, rateOf, type Rate, type Row } from './rows.ts';

export interface Detection {
  readonly attacks: Readonly<Record<string, Rate>>;
  readonly benign: Readonly<Record<string, Rate>>;
  /** True positives by source group. */
  readonly groups: Readonly<Record<string, Rate>>;
  /** Mean of the groups. */
  readonly macro: number;
}

/** Every row at the tier of its channel, by the very judge that admission asks. `keyOf`: what attacks and benign rows are told apart by. */
export async function detection(rows: readonly Row[], judge: TextJudge, keyOf: (row: Row) => string): Promise<Detection> {
  const caught = new Set<string>();
  for (const row of rows) {
    const { verdict } = await judge({ content: row.text }, CHANNEL_TIER[row.channel]);
    if (CAUGHT.has(verdict)) caught.add(row.id);
  }
  const rates = (part: readonly Row[], key: (row: Row) => string): Record<string, Rate> =>
    Object.fromEntries([...grouped(part, key)].map(([name, group]) => [name, rateOf(group, ({ id }) => caught.has(id))]));
  const attacks = rows.filter((row) => row.label === 'attack');
  const groups = rates(attacks, groupOf);
  const all = Object.values(groups).map(({ rate }) => rate);
  return {
    attacks: rates(attacks, keyOf),
    benign: rates(
      rows.filter((row) => row.label === 'benign'),
      keyOf,
    ),
    groups,
    macro: all.reduce((sum, rate) => sum + rate, 0) / all.length,
  };
}

/** The id without its number names the source group. */
function groupOf(row: Row): string {
  return row.id.replace(/-?[^-]*$/, '');
}
