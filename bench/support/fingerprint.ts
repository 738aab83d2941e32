/** Fingerprints that say whether something kept from an earlier run still holds: of rows of data, and of the program's own sources. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..', '..');
const HEX = 16;

/** Of any JSON value. */
export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, HEX);
}

/** Of the names and contents of files and whole folders of the project, wherever it lies. */
export function sourceFingerprint(paths: readonly string[], root = PROJECT): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const full = join(root, path);
    if (statSync(full).isDirectory()) {
      for (const entry of readdirSync(full).sort()) add(join(path, entry));
    } else {
      hash.update(`${path}\0`).update(readFileSync(full)).update('\0');
    }
  };
  for (const path of paths) add(path);
  return hash.digest('hex').slice(0, HEX);
}
