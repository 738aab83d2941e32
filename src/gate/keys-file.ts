/** Secret files in DATA_DIR (keys, the local issuer's key pair): made once, whoever comes first, and readable by their owner alone. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HindsightError } from '../errors.ts';

const MAX_BYTES = 65_536;

/**
 * The text of `path`; where there is none, `make()` is written with mode 0600 first. Two processes that start together get
 * the same text: a complete file is linked into place, and the loser reads the winner's. Throws ERR_CONFIG_UNSAFE, with the
 * chmod that mends it, when others than the owner may read or write the file.
 */
export async function readOrCreateSecret(path: string, make: () => string | Promise<string>): Promise<string> {
  const found = await readSecret(path);
  if (found !== undefined) return found;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `.${randomUUID()}.draft`);
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(await make());
    await file.sync();
    await link(draft, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error; // another process was faster
    });
  } finally {
    await file.close();
    await unlink(draft);
  }
  const text = await readSecret(path);
  if (text === undefined) throw unsafe(`${path} vanished while it was made`);
  return text;
}

async function readSecret(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw unsafe(`${path} cannot be read`, error);
  });
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    // Windows reports no owner bits
    if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0)
      throw unsafe(`${path} holds a secret but others may read or write it: run chmod 600 ${path}`);
    if (!facts.isFile() || facts.size === 0 || facts.size > MAX_BYTES)
      throw unsafe(`${path} is damaged: restore it, or remove it to have a new one made`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function unsafe(detail: string, cause?: unknown): HindsightError {
  return new HindsightError('ERR_CONFIG_UNSAFE', { params: { detail }, cause });
}
