/** What a latency run measures: layouts of the data, settings of the search, and the cells they make. Pure. */
import type { VectorIndex } from '../../src/elastic/mappings.ts';

/** How the memories lie: decides the import, so every layout is written anew. */
export interface Layout {
  readonly index: VectorIndex;
  readonly namespaces: number;
  readonly tenants: number;
}

export type FilterName = 'none' | 'narrow' | 'wide';

/** How a search is asked. */
export interface Setting {
  readonly topK: number;
  /** k and num_candidates of the knn clauses. */
  readonly neighbours: number;
  readonly filter: FilterName;
  readonly concurrency: number;
}

export interface Cell extends Layout, Setting {
  readonly size: number;
}

/** Values of each dimension; the first of each is the base. */
export interface Dimensions {
  readonly sizes: readonly number[];
  readonly indexes: readonly VectorIndex[];
  readonly namespaces: readonly number[];
  readonly tenants: readonly number[];
  readonly topK: readonly number[];
  readonly neighbours: readonly number[];
  readonly filters: readonly FilterName[];
  readonly concurrency: readonly number[];
}

/** Conditions of a search, over memories whose tags are one of 40 and whose kinds are one of 5. */
export const FILTERS: Readonly<Record<FilterName, Readonly<Record<string, unknown>> | undefined>> = {
  none: undefined,
  narrow: { tags: ['tag7'] },
  wide: { kind: ['event', 'fact', 'preference', 'decision'] },
};

/** The base and what differs from it in one dimension: the full cross product would take days and tell little more. */
function oneAtATime<T extends object>(values: { readonly [K in keyof T]: readonly T[K][] }): T[] {
  const names = Object.keys(values) as (keyof T)[];
  const base = Object.fromEntries(names.map((name) => [name, values[name][0]])) as T;
  return [base, ...names.flatMap((name) => values[name].slice(1).map((value) => ({ ...base, [name]: value })))];
}

export function layoutsOf({ indexes: index, namespaces, tenants }: Dimensions): Layout[] {
  return oneAtATime<Layout>({ index, namespaces, tenants });
}

export function settingsOf({ topK, neighbours, filters: filter, concurrency }: Dimensions): Setting[] {
  return oneAtATime<Setting>({ topK, neighbours, filter, concurrency });
}

/** Cells of one layout, sizes rising, so that one import grows through them. */
export function cellsOf(layout: Layout, dimensions: Dimensions): Cell[] {
  const sizes = [...dimensions.sizes].sort((a, b) => a - b);
  return sizes.flatMap((size) => settingsOf(dimensions).map((setting) => ({ ...layout, ...setting, size })));
}

/** Names a layout at a size. */
export const corpusKey = ({ index, namespaces, tenants, size }: Layout & { readonly size: number }): string =>
  `${size} ${index} ${namespaces}ns ${tenants}t`;

/** Names a cell within a run. */
export const cellKey = (cell: Cell): string => `${corpusKey(cell)} top${cell.topK} n${cell.neighbours} ${cell.filter} c${cell.concurrency}`;

/** What the settings of a search change in the request, whatever the concurrency. */
export const shapeKey = ({ topK, neighbours, filter }: Setting): string => `top${topK} n${neighbours} ${filter}`;
