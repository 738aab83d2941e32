/** Writes a run's figures to bench/results/<name>.json: figures and the machine line only, never a row of the data. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Replaces the file; returns its path relative to the project. Numbers are rounded to four places. */
export function writeResults(
  name: string,
  figures: Readonly<Record<string, unknown>>,
  root = join(import.meta.dirname, '..', '..'),
): string {
  const path = join('bench', 'results', `${name}.json`);
  mkdirSync(join(root, 'bench', 'results'), { recursive: true });
  const text = JSON.stringify(figures, (_key, value: unknown) => (typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value), 2);
  const draft = join(root, `${path}.${process.pid}`);
  writeFileSync(draft, `${text}\n`);
  renameSync(draft, join(root, path));
  return path;
}
