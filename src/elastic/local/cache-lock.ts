/** A lock file that keeps two processes from preparing the same cache at once. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './process-alive.ts';

const POLL_MS = 250;

/**
 * Runs `work` while holding the lock file, which names the holder's pid. Waits for a living holder, calling `onWait`
 * once; a lock left by a dead process is taken over. The lock only saves double work: what is built under it must be
 * published by an atomic rename all the same.
 */
export async function withCacheLock<T>(path: string, onWait: (holderPid: number) => void, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${randomUUID()}`;
  let told = false;
  while (!(await create(path, mine))) {
    const content = await readFile(path, 'utf8').catch(() => undefined);
    if (content === undefined) continue; // released between the two calls
    const holder = Number.parseInt(content, 10);
    if (content !== '' && !isAlive(holder)) {
      await takeAway(path, content);
      continue;
    }
    if (!told) onWait(holder);
    told = true;
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    if ((await readFile(path, 'utf8').catch(() => '')) === mine) await rm(path, { force: true });
  }
}

async function create(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a dead holder's lock. Two waiters may both try: the rename lets one of them win, and a lock caught by mistake is put back. */
async function takeAway(path: string, expected: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const caught = await readFile(aside, 'utf8');
  if (caught !== expected) await create(path, caught);
  await rm(aside, { force: true });
}
