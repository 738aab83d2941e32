/** The managed local Elasticsearch: prepares, starts and hands out one supervised JVM on loopback. */
import { mkdir, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HindsightError } from '../../errors.ts';
import { prepareArtifacts, type Progress } from './artifacts.ts';
import { engineCredential } from './credential.ts';
import { startOnce, type JvmBase, type Started } from './engine-start.ts';
import type { EngineVersion } from './engine-version.ts';
import { selectJdk } from './java.ts';
import { compileLauncher } from './jvm.ts';
import { readOwner } from './owner-record.ts';
import { startError } from './start-fault.ts';
import { Supervisor, type EngineLog } from './supervisor.ts';

/** How long an engine whose service was killed may take to close before its data directory counts as taken. */
const LOCK_PATIENCE_MS = 20_000;
const LOCK_POLL_MS = 500;
const PORT_TRIES = 3;
const DEFAULT_HEAP_MB = 1024;
const NEEDED_BYTES = 1e9;

export interface LocalNodeOptions {
  readonly cacheDir: string;
  readonly dataDir: string;
  readonly engine: EngineVersion;
  /** Upper bound of the Java heap in MB; 1024 by default. */
  readonly heapMb?: number | undefined;
  /** 0 or absent: a free one. */
  readonly httpPort?: number | undefined;
  readonly javaHome?: string | undefined;
  /** Environment for looking up Java and Maven; the process's own by default. The engine itself gets none of it. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Answers anyone on this machine without a credential: for throw-away data of tests and benches, whose many clients know an
   * engine by its URL alone. The service never sets it.
   */
  readonly open?: true;
  readonly log: EngineLog;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface LocalNode {
  /** Stays the same for the life of this object, across restarts of the engine. */
  readonly url: string;
  /** What every request must carry (HTTP Basic); undefined for one that is `open`. */
  readonly credential: { readonly username: string; readonly password: string } | undefined;
  readonly version: string;
  readonly javaVersion: string;
  /** Process id of the JVM, also while it is still starting; undefined when there is none. */
  pid(): number | undefined;
  /** Closes the engine within 20 s, else kills it; no restart follows. */
  stop(): Promise<void>;
  /** Called when the engine has died without having been stopped. */
  onDown(callback: () => void): void;
  /** Called when it is back on the same url. */
  onUp(callback: () => void): void;
}

/**
 * Prepares what is missing, starts Elasticsearch on 127.0.0.1 with its data in `dataDir`/elasticsearch and its log in
 * `dataDir`/logs/elasticsearch.log, and waits until it answers (3 to 8 s on two cores, 120 s at most).
 * Throws ERR_ENGINE_JAVA, ERR_ENGINE_MAVEN, ERR_ENGINE_DISK, ERR_ENGINE_START or ERR_ALREADY_RUNNING with one sentence.
 */
export async function startLocalNode(options: LocalNodeOptions): Promise<LocalNode> {
  const cacheDir = resolve(options.cacheDir);
  const dataDir = resolve(options.dataDir);
  const jdk = await selectJdk(options.engine, options);
  const { elasticsearchHome: home } = await prepareArtifacts({ ...options, cacheDir, models: false });
  await prepareDataDir(dataDir);
  const launcherDir = await compileLauncher(cacheDir, options.engine, home, jdk);
  options.onProgress?.({ phase: 'engine', message: `starting Elasticsearch ${options.engine} on Java ${jdk.version}` });
  const credential = options.open === true ? undefined : await engineCredential(dataDir);
  const jvm: JvmBase = { credential, jdk, launcherDir, home, dataDir, heapMb: options.heapMb ?? DEFAULT_HEAP_MB };
  const started = await firstStart(jvm, options.httpPort ?? 0);
  const supervisor = new Supervisor(started, jvm, options.log);
  const url = `http://127.0.0.1:${started.httpPort}`;
  options.log('local elasticsearch is up', { url, version: started.version, java: jdk.version, pid: started.engine.pid });
  return {
    url,
    credential,
    version: started.version,
    javaVersion: jdk.version,
    pid: () => supervisor.pid(),
    stop: () => supervisor.stop(),
    onDown: (callback) => supervisor.onDown(callback),
    onUp: (callback) => supervisor.onUp(callback),
  };
}

async function firstStart(jvm: JvmBase, wantedPort: number): Promise<Started> {
  const lockDeadline = performance.now() + LOCK_PATIENCE_MS;
  for (let tries = 1; ; tries += 1) {
    const httpPort = wantedPort === 0 ? await freePort() : wantedPort;
    const attempt = await startOnce(jvm, httpPort);
    if (!('fault' in attempt)) return attempt;
    const { fault, log } = attempt;
    if (fault.kind === 'locked') {
      const owner = await readOwner(jvm.dataDir);
      if (owner !== undefined) throw new HindsightError('ERR_ALREADY_RUNNING', { params: { pid: owner }, cause: new Error(fault.detail) });
      if (performance.now() < lockDeadline) {
        await delay(LOCK_POLL_MS);
        continue;
      }
    }
    // Someone may take a free port between the look and the start.
    if (fault.kind === 'port' && wantedPort === 0 && tries < PORT_TRIES) continue;
    throw startError(fault, log);
  }
}

async function prepareDataDir(dataDir: string): Promise<void> {
  try {
    for (const folder of ['elasticsearch', 'logs', 'snapshots', 'tmp'])
      await mkdir(join(dataDir, folder), { recursive: true, mode: 0o700 });
  } catch (cause) {
    const detail = `The data directory ${dataDir} can't be written: give this user access to it or set DATA_DIR to another one`;
    throw new HindsightError('ERR_ENGINE_DISK', { params: { detail }, cause });
  }
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize >= NEEDED_BYTES) return;
  const detail = `Only ${Math.round((bavail * bsize) / 1e6)} MB are free at ${dataDir}: free at least 1 GB there or set DATA_DIR to another disk`;
  throw new HindsightError('ERR_ENGINE_DISK', { params: { detail } });
}

async function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolvePort(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
