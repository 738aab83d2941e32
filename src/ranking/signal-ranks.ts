/** Where a hit would stand by one signal alone; for explanations. Pure. */
import type { RankedHit, SignalPart } from '../domain/ranking.ts';

export interface RankedPart extends SignalPart {
  /** 1 = first of the candidates; null when the signal had no part in this hit. Equal values share the better place. */
  readonly rank: number | null;
}

/** The parts of a hit, each with its place among the candidates it was ranked with. What counts against a score ranks the lesser value higher. */
export function signalsOf(hit: Pick<RankedHit, 'parts'>, among: readonly Pick<RankedHit, 'parts'>[]): RankedPart[] {
  return hit.parts.map((part) => {
    const own = worth(part);
    if (own === undefined) return { ...part, rank: null };
    const better = among.filter(({ parts }) => {
      const same = parts.find(({ signal }) => signal === part.signal);
      const other = same === undefined ? undefined : worth(same);
      return other !== undefined && other > own;
    });
    return { ...part, rank: better.length + 1 };
  });
}

/** Larger is better; undefined: no part in the score. */
function worth({ raw, normalised, weight, contribution }: SignalPart): number | undefined {
  if (raw === null && contribution === 0) return undefined;
  return weight < 0 || contribution < 0 ? -normalised : normalised;
}
