/** How far an import has come, in DATA_DIR/imports: a run that was ended in any way goes on there, and sends nothing twice. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ImportState {
  /** Lines up to this one are done. */
  readonly line: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly faults: number;
  /** Length of the faults file that belongs to these lines. */
  readonly faultBytes: number;
  readonly finished: boolean;
  /** The batch that was on its way: its last line, and when it was first sent (ms since the epoch). Absent once its answer is noted. */
  readonly sending?: { readonly line: number; readonly atMs: number };
}

export const NOT_BEGUN: ImportState = { line: 0, outcomes: {}, faults: 0, faultBytes: 0, finished: false };

/** `key` names file, service and options: another of any of them is another import. */
export function readState(dataDir: string, key: string): ImportState {
  try {
    const read = JSON.parse(readFileSync(pathOf(dataDir, key), 'utf8')) as Partial<ImportState>;
    return typeof read.line === 'number' ? { ...NOT_BEGUN, ...read } : NOT_BEGUN;
  } catch {
    return NOT_BEGUN;
  }
}

/** Replaces the file atomically: what is read later is this state or the one before. */
export function writeState(dataDir: string, key: string, state: ImportState): void {
  mkdirSync(join(dataDir, 'imports'), { recursive: true, mode: 0o700 });
  const draft = `${pathOf(dataDir, key)}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(state), { mode: 0o600 });
  renameSync(draft, pathOf(dataDir, key));
}

function pathOf(dataDir: string, key: string): string {
  return join(dataDir, 'imports', `${key}.json`);
}
