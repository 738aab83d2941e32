/** "Did you mean …": the known name nearest to a mistyped one. */

/** The nearest of `known` within two edits, or one that begins with `given` (three characters at least); undefined when none is near. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const begins = given.length >= 3 ? known.find((name) => name.startsWith(given)) : undefined;
  if (begins !== undefined) return begins;
  const limit = given.length <= 3 ? 1 : 2;
  const ranked = known.map((name) => ({ name, edits: distance(given, name) })).sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= limit ? best.name : undefined;
}

/** Damerau-Levenshtein distance in its restricted form (optimal string alignment): swapped neighbours count as one edit. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [before, above] = [above, row];
  }
  return above[b.length] ?? 0;
}
