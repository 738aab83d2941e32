/** Where the model of profile local-multilingual lies, and what a start says when it does not. */
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { isComplete } from './stamp.ts';

/** Changes with the files that convert-multilingual.py makes. */
const VERSION = '1';

/** The folder, made or not. */
export function multilingualFolder(cacheDir: string): string {
  return join(cacheDir, `models-multilingual-${VERSION}`);
}

/** The folder with the made model. Throws ERR_MODEL_MISSING, which says how to make it. */
export async function builtMultilingual(cacheDir: string): Promise<string> {
  const path = multilingualFolder(cacheDir);
  if (await isComplete(path)) return path;
  throw new HindsightError('ERR_MODEL_MISSING', { params: { path } });
}
