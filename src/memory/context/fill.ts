/** Fills a token budget with what is worth most a token; pure, between the ranked hits and the block. */

export interface Candidate {
  /** Worth above 0, in any unit. */
  readonly value: number;
  /** Whole tokens, at least 1. */
  readonly tokens: number;
}

/**
 * The chosen ones by position, in the order given. Greedy by value per token, then by value, then by position; one that alone is worth more
 * than all of these takes their place (which bounds the loss at half of the best filling: Dantzig 1957; Martello and Toth, Knapsack
 * Problems, 2.4). Never above the budget, and a larger budget never holds less value: where the first difference of two fillings is an
 * item that only the larger budget holds, the smaller one spends less than that item's tokens on the rest, at no better rate.
 */
export function fill(candidates: readonly Candidate[], budget: number): readonly number[] {
  const order = candidates
    .map((candidate, position) => ({ ...candidate, position }))
    .sort((a, b) => b.value * a.tokens - a.value * b.tokens || b.value - a.value || a.position - b.position);
  let left = budget;
  let value = 0;
  const chosen: number[] = [];
  for (const one of order) {
    if (one.tokens > left) continue;
    left -= one.tokens;
    value += one.value;
    chosen.push(one.position);
  }
  const fitting = order.filter(({ tokens }) => tokens <= budget).sort((a, b) => b.value - a.value || a.position - b.position);
  const [single] = fitting;
  if (single !== undefined && single.value > value) return [single.position];
  return chosen.sort((a, b) => a - b);
}
