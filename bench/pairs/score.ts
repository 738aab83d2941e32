/** The labelled pairs (test/pairs) and how well relationOf tells them; the bench prints it, the test holds it to its numbers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparedText } from '../../src/memory/conflicts/relation.ts';
import type { Relation } from '../../src/memory/conflicts/relation-kind.ts';

export type RelationKind = Relation['kind'];
export const LANGS = ['zh', 'en'] as const;

export interface PairRow {
  readonly id: string;
  /** Rules were written looking at `dev`; `held_out` was written afterwards and nothing was changed for it. */
  readonly half: 'dev' | 'held_out';
  readonly class: string;
  readonly older: ComparedText;
  readonly newer: ComparedText;
  /** What it is; `also`: what else a careful person could call it. */
  readonly relation: RelationKind;
  readonly also?: readonly RelationKind[];
}

export interface Score {
  readonly pairs: number;
  readonly right: number;
  /** Told to be the same, and are not. */
  readonly wrongMerges: number;
  /** Of those told to be changed or retracted the share that is. */
  readonly precision: number;
  /** Of those that are changed or retracted the share told to be. */
  readonly recall: number;
  /** Label, then answer. */
  readonly confusion: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export function readPairs(folder: string): readonly (PairRow & { readonly lang: (typeof LANGS)[number] })[] {
  return LANGS.flatMap((lang) =>
    readFileSync(join(folder, `${lang}.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => ({ ...(JSON.parse(line) as PairRow), lang })),
  );
}

const supersedes = (kind: RelationKind): boolean => kind === 'changed' || kind === 'retracted';
const labelsOf = (row: PairRow): readonly RelationKind[] => [row.relation, ...(row.also ?? [])];

export function scoreOf(rows: readonly PairRow[], tell: (row: PairRow) => RelationKind): Score {
  const told = rows.map((row) => ({ row, kind: tell(row) }));
  const superseded = told.filter(({ kind }) => supersedes(kind));
  const due = told.filter(({ row }) => supersedes(row.relation));
  const confusion: Record<string, Record<string, number>> = {};
  for (const { row, kind } of told) {
    const line = (confusion[row.relation] ??= {});
    line[kind] = (line[kind] ?? 0) + 1;
  }
  return {
    pairs: rows.length,
    right: told.filter(({ row, kind }) => labelsOf(row).includes(kind)).length,
    wrongMerges: told.filter(({ row, kind }) => kind === 'same' && !labelsOf(row).includes('same')).length,
    precision: superseded.filter(({ row }) => labelsOf(row).some(supersedes)).length / superseded.length,
    recall: due.filter(({ kind }) => supersedes(kind)).length / due.length,
    confusion,
  };
}
