/** One real Elasticsearch for the tests and benches of a process: the one named by the environment, else a local node of its own. */
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineVersion } from '../../src/elastic/local/engine-version.ts';
import { startLocalNode } from '../../src/elastic/local/node.ts';

/** Test files follow each other within one process: the node outlives its last user this long, so that the next file finds it. */
const LINGER_MS = 5_000;

interface Shared {
  readonly url: string;
  readonly close: () => Promise<void>;
}

let shared: Promise<Shared> | undefined;
let users = 0;
let closing: NodeJS.Timeout | undefined;

/** The cache shared by the service's default set-up, the tests and the benches. */
export function engineCacheDir(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hindsight-es');
}

/** Version from TEST_ENGINE, 8.19.9 by default. */
export function testEngine(): EngineVersion {
  const version = process.env['TEST_ENGINE'] ?? '8.19.9';
  if (version !== '8.19.9' && version !== '9.0.8') throw new Error(`TEST_ENGINE must be 8.19.9 or 9.0.8, not ${version}`);
  return version;
}

/**
 * The url of TEST_ELASTICSEARCH_URL when it is set, else of a node started on the first call and shared by all callers
 * of this process. It stops, and its data go, a little after the last `release` (call it in an `after` hook) or when
 * the process exits.
 */
export async function acquireEngine(): Promise<{ url: string; release(): Promise<void> }> {
  const given = process.env['TEST_ELASTICSEARCH_URL'];
  if (given) return { url: given, release: async () => undefined };
  users += 1;
  clearTimeout(closing);
  shared ??= start();
  const { url } = await shared.catch((error: unknown) => {
    users -= 1;
    shared = undefined;
    throw error;
  });
  let released = false;
  return {
    url,
    async release() {
      if (released) return;
      released = true;
      users -= 1;
      if (users === 0) closing = setTimeout(() => void closeShared(), LINGER_MS);
    },
  };
}

async function closeShared(): Promise<void> {
  const last = shared;
  shared = undefined;
  await (await last)?.close();
}

async function start(): Promise<Shared> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hindsight-es-test-'));
  const node = await startLocalNode({
    cacheDir: engineCacheDir(),
    dataDir,
    engine: testEngine(),
    open: true,
    javaHome: process.env['JAVA_HOME'],
    log: (message, fields) => process.stderr.write(`engine: ${message} ${JSON.stringify(fields)}\n`),
  });
  // mocha leaves by process.exit: nothing asynchronous runs then, and the data are thrown away, so a kill is clean enough
  const atExit = (): void => {
    const pid = node.pid();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', atExit);
  return {
    url: node.url,
    close: async () => {
      process.off('exit', atExit);
      await node.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
