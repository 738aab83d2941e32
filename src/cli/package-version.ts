/** The version of this program, from its package. */
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // src/cli and dist/cli both lie two folders below the package
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}
