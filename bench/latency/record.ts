/** What a latency run has measured, one JSON line a cell, appended as it goes: a rerun skips what is there. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import type { Percentiles } from '../support/latency.ts';
import { cellKey, corpusKey, type Cell, type Layout } from './plan.ts';

export type Side = 'rest' | 'raw' | 'plain';
export const SIDES: readonly Side[] = ['rest', 'raw', 'plain'];

export interface SideFigures extends Percentiles {
  readonly per_second: number;
}

export interface CellFigures extends Cell, Readonly<Record<Side, SideFigures>> {
  /** Ordinals of the memories found, by question; only where concurrency is the base. */
  readonly hits?: readonly (readonly number[])[];
}

export interface CorpusFigures extends Layout {
  readonly size: number;
  /** Memories a second over REST, vectors given; of the last step of the import. */
  readonly ingest_per_second: number;
  readonly index_bytes: number;
  readonly segments: number;
  readonly heap_used_bytes: number;
  readonly heap_max_bytes: number;
}

type Line = { readonly run: string } & (
  { readonly kind: 'cell'; readonly figures: CellFigures } | { readonly kind: 'corpus'; readonly figures: CorpusFigures }
);

/** `run` names everything that makes figures comparable: sources, seed, questions, engine. Lines of other runs stay in the file, unread. */
export class LatencyRecord {
  readonly #path: string;
  readonly #run: string;
  readonly #cells = new Map<string, CellFigures>();
  readonly #corpora = new Map<string, CorpusFigures>();

  constructor(path: string, run: string, fresh = false) {
    this.#path = path;
    this.#run = run;
    if (fresh) rmSync(path, { force: true });
    if (!existsSync(path)) return;
    for (const text of readFileSync(path, 'utf8').split('\n')) {
      const line = parsed(text);
      if (line?.run !== run) continue;
      if (line.kind === 'cell') this.#cells.set(cellKey(line.figures), line.figures);
      else this.#corpora.set(corpusKey(line.figures), line.figures);
    }
  }

  has(cell: Cell): boolean {
    return this.#cells.has(cellKey(cell));
  }

  addCell(figures: CellFigures): void {
    this.#cells.set(cellKey(figures), figures);
    this.#append({ run: this.#run, kind: 'cell', figures });
  }

  addCorpus(figures: CorpusFigures): void {
    this.#corpora.set(corpusKey(figures), figures);
    this.#append({ run: this.#run, kind: 'corpus', figures });
  }

  /** The figures of these cells, those not measured left out. */
  cells(wanted: readonly Cell[]): CellFigures[] {
    return wanted.flatMap((cell) => this.#cells.get(cellKey(cell)) ?? []);
  }

  corpora(wanted: readonly Cell[]): CorpusFigures[] {
    return [...new Set(wanted.map(corpusKey))].flatMap((key) => this.#corpora.get(key) ?? []);
  }

  #append(line: Line): void {
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }
}

/** Undefined for the half line of a run that was killed while writing. */
function parsed(text: string): Line | undefined {
  try {
    return text === '' ? undefined : (JSON.parse(text) as Line);
  } catch {
    return undefined;
  }
}
