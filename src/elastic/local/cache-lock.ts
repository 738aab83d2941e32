/** A lock file that keeps two processes from preparing the same cache at once. */
import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './process-alive.ts';

const POLL_MS = 250;
const GATE_POLL_MS = 20;
const GATE_MAX_AGE_MS = 10_000;

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

/**
 * Removes a dead holder's lock. Behind a gate that one waiter at a time passes, so that nobody takes away the lock which another has made
 * since; a gate whose own holder died is removed when it is old.
 */
async function takeAway(path: string, expected: string): Promise<void> {
  const gate = `${path}.takeover`;
  if (!(await create(gate, ''))) {
    const madeMs = await stat(gate).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (performance.timeOrigin + performance.now() - madeMs > GATE_MAX_AGE_MS) await rm(gate, { force: true });
    await delay(GATE_POLL_MS);
    return;
  }
  try {
    if ((await readFile(path, 'utf8').catch(() => '')) === expected) await rm(path, { force: true });
  } finally {
    await rm(gate, { force: true });
  }
}
