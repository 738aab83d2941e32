/** The shape of a ranking signal: one entry of the catalogue says what it is, how the engine adds it and how it is told to people. */
import type { HitRecord } from '../../domain/ranking.ts';
import type { QueryClause } from '../../domain/scope.ts';
import type { Lang, RankContext } from '../context.ts';

/** A hit taken apart: what each clause of the one query gave it. Null: the clause gave nothing, or something else hid it. */
export interface Evidence {
  readonly record: HitRecord;
  readonly engineScore: number;
  /** BM25 sum of the lexical clauses, engine units without the profile's multiplier. */
  readonly lexical: number | null;
  /** The same by wording, where a question has two. */
  readonly wordings?: readonly (number | null)[];
  readonly speaker: boolean;
  /** Fit of the dates, 1 = on a day the question names. */
  readonly date: number | null;
  /** Share of what the question wants to the letter. */
  readonly exact: number | null;
  readonly cosine: number | null;
  readonly otherCosine: number | null;
  readonly passageCosine: number | null;
  /** It holds some of that, and so counts as at least so similar. */
  readonly rescued: boolean;
  /** No vector could speak for this hit: the query had none, or the record's is still due. */
  readonly withoutVector: boolean;
  readonly passage?: string;
  /** 0..1, likeness to a better hit; only formulas that look at the whole page set it. */
  readonly redundancy?: number;
}

/** How the engine adds a signal to `_score`. `value` times the engine weight is exactly what `functions` add. */
export interface EnginePart {
  value(record: HitRecord, context: RankContext): number;
  /** function_score functions for this engine weight; `always` says that one of them matches every record. */
  functions(weight: number, context: RankContext): readonly QueryClause[];
  readonly always: boolean;
}

export interface Signal {
  /** Name in profiles, explanations and overrides. */
  readonly name: string;
  /** Weight it is counted with when that is another signal's. */
  readonly weightOf?: string;
  /** Signals of one group stand for each other: only the best of them counts for a hit. */
  readonly group?: 'similarity';
  /** Its part is taken from the score. */
  readonly against?: true;
  readonly formula: string;
  readonly source: string;
  /** Natural value; null: no part in this hit; undefined: no part in this request, left out of explanations. */
  raw(evidence: Evidence, context: RankContext): number | null | undefined;
  /** 0..1, never falls when the raw value becomes better. */
  normalise(raw: number, context: RankContext): number;
  readonly engine?: EnginePart;
  sentence(raw: number, normalised: number, lang: Lang): string;
}

/** Into [0, 1]; NaN becomes 0. */
export function clip(value: number): number {
  return value > 0 ? Math.min(1, value) : 0;
}

export function percent(value: number): string {
  return `${Math.round(value * 100)}%`;
}
