/** Where a machine keeps what is fetched or made once: the engine's files and the models. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** HINDSIGHT_CACHE_DIR, else the folder of this program in XDG_CACHE_HOME (which counts only when absolute) or ~/.cache. */
export function cacheDirOf(env: Readonly<Record<string, string | undefined>>): string {
  const own = env['HINDSIGHT_CACHE_DIR'];
  if (own !== undefined && own !== '') return resolve(own);
  const home = env['XDG_CACHE_HOME'];
  return join(home !== undefined && isAbsolute(home) ? home : join(env['HOME'] ?? homedir(), '.cache'), 'hindsight-es');
}
