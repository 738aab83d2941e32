/** The credential of the managed Elasticsearch, kept in DATA_DIR: LoopbackGuard.java asks for it, the service's client sends it. */
import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'engine-credential';
const USERNAME = 'hindsight';
const SECRET_BYTES = 32;
const CONTENT = /^hindsight:([A-Za-z0-9_-]{43})\s*$/;

export interface EngineCredential {
  /** Holds `user:password`, as `curl -u "$(cat FILE)"` takes it; readable by its owner alone. */
  readonly file: string;
  readonly username: string;
  readonly password: string;
}

/**
 * The credential of a data directory, made on the first call. It stays the same from then on: a second start on a directory in use
 * must not take it away from the engine that runs there.
 */
export async function engineCredential(dataDir: string): Promise<EngineCredential> {
  const file = join(dataDir, FILE);
  let password = await read(file);
  if (password === undefined) {
    password = randomBytes(SECRET_BYTES).toString('base64url');
    await writeFile(file, `${USERNAME}:${password}\n`, { mode: 0o600 });
  }
  await chmod(file, 0o600);
  return { file, username: USERNAME, password };
}

async function read(file: string): Promise<string | undefined> {
  return CONTENT.exec(await readFile(file, 'utf8').catch(() => ''))?.[1];
}

/** Value of the Authorization header (RFC 7617). */
export function basicHeader({ username, password }: Pick<EngineCredential, 'username' | 'password'>): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
