/** Finds the non-TypeScript files of this folder, which stay under src/ also when the compiled service runs from dist/. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HindsightError } from '../../errors.ts';

/**
 * Absolute path of a file kept in src/elastic/local, found by walking up from this module to the package's root.
 * Throws ERR_ENGINE_START when the installation lacks it.
 */
export function locateAsset(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  const path = join(folder, 'src', 'elastic', 'local', name);
  if (!existsSync(path)) {
    throw new HindsightError('ERR_ENGINE_START', {
      params: { detail: `The installation is incomplete: ${path} is missing. Install the package again.` },
    });
  }
  return path;
}
