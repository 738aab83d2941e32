/** Writes a run's figures to bench/results, or a folder of the caller's choice: figures and the machine line only, never a row of the data. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const RESULTS = join(root, 'bench', 'results');

/** Replaces <name>.json in the folder; returns its path, relative to the project where it lies in it. Numbers are rounded to four places. */
export function writeResults(name: string, figures: Readonly<Record<string, unknown>>, folder = RESULTS): string {
  const text = JSON.stringify(figures, (_key, value: unknown) => (typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value), 2);
  return writeResultFile(`${name}.json`, `${text}\n`, folder);
}

/** Replaces any file in the folder. */
export function writeResultFile(file: string, text: string, folder = RESULTS): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, file);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
  const fromRoot = relative(root, path);
  return fromRoot.startsWith('..') ? path : fromRoot;
}
