/** Chooses what stands in the block: of the entries that may, the set that is worth most within the budget; pure. */
import { entryTokens, frameTokens, type BlockEntry } from './block.ts';
import { fill } from './fill.ts';
import type { BlockWords } from './policy.ts';

export interface WorthyEntry extends BlockEntry {
  /** Calibrated, above 0. */
  readonly score: number;
}

/**
 * How much more a better hit is worth than a longer list of weaker ones: worth is the score to this power. Per token, so that of two equally
 * good ones the shorter comes first. Bench run on 74 questions of four dev sets, share of blocks of 100 / 200 / 400 tokens that hold
 * something relevant: power 1 .42 / .62 / .81, 4 .46 / .80 / .92, 8 .50 / .77 / .89; by score alone, cost left aside, .58 / .81 / .92.
 */
const WORTH_POWER = 4;

/**
 * The entries to show, in the order given. Headings and the note cost as well: each of several groups (all entries, all outside the envelope,
 * one layer, one entry) is filled within the budget that its frame leaves, and the group worth most is taken, so that a small budget holds at
 * least the one memory that fits. Never above the budget; a larger budget never holds less worth, as that is so for each group.
 */
export function choose<T extends WorthyEntry>(entries: readonly T[], budget: number, words: BlockWords): readonly T[] {
  const layers = [...new Set(entries.map(({ layer }) => layer))];
  const groups = [
    entries,
    entries.filter(({ referenceOnly }) => !referenceOnly),
    ...layers.map((layer) => entries.filter((entry) => entry.layer === layer)),
    ...entries.map((entry) => [entry]),
  ];
  let best: readonly T[] = [];
  for (const group of groups) {
    const chosen = filled(group, budget, words);
    if (worthOf(chosen) > worthOf(best)) best = chosen;
  }
  return best;
}

/** Sum over a set, as `choose` compares them. */
export function worthOf(entries: readonly WorthyEntry[]): number {
  return entries.reduce((sum, { score }) => sum + worth(score), 0);
}

/** Of one memory by its score. */
export const worth = (score: number): number => score ** WORTH_POWER;

function filled<T extends WorthyEntry>(group: readonly T[], budget: number, words: BlockWords): readonly T[] {
  const candidates = group.map(({ line, score }) => ({ value: worth(score), tokens: entryTokens(line) }));
  return fill(candidates, budget - frameTokens(group, words)).flatMap((position) => group[position] ?? []);
}
