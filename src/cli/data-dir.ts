/** The data directory before anything uses it: there, and writable by this user. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { HindsightError } from '../errors.ts';

/** Makes the directory (mode 0700) where there is none. Throws ERR_DATA_DIR when it cannot be made, or not be written. */
export function openDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    if (!statSync(dataDir).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new HindsightError('ERR_DATA_DIR', { params: { path: dataDir, reason: reasonOf(cause) }, cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'read-only file system',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file stands there',
};

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return REASONS[code] ?? code;
}
