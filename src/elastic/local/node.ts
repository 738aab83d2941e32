/** The managed local Elasticsearch: one supervised JVM on loopback, restarted on the same port when it dies. */
import { mkdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HindsightError } from '../../errors.ts';
import { prepareArtifacts, type Progress } from './artifacts.ts';
import { spawnEngine, type EngineProcess } from './engine-process.ts';
import type { EngineVersion } from './engine-version.ts';
import { selectJdk } from './java.ts';
import { compileLauncher, type JvmOptions } from './jvm.ts';
import { isAlive } from './process-alive.ts';
import { explainStart, startError } from './start-fault.ts';

const START_TIMEOUT_MS = 120_000;
const STOP_GRACE_MS = 20_000;
/** How long a predecessor whose service was killed may take to close before its data directory counts as taken. */
const LOCK_PATIENCE_MS = 20_000;
const PORT_TRIES = 3;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** A node that ran this long before it died starts again with the shortest back-off. */
const STEADY_MS = 60_000;
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
  /** Environment for looking up Java and Maven; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface LocalNode {
  /** Stays the same for the life of this object, across restarts of the engine. */
  readonly url: string;
  readonly version: string;
  readonly javaVersion: string;
  /** Process id of the JVM; undefined while it is down. */
  pid(): number | undefined;
  /** Closes the node within 20 s, else kills it. No restart follows. */
  stop(): Promise<void>;
  /** The engine died unexpectedly. */
  onDown(callback: () => void): void;
  /** It is back on the same url. */
  onUp(callback: () => void): void;
}

/**
 * Prepares what is missing, starts Elasticsearch on 127.0.0.1 with its data in `dataDir` and waits until it answers.
 * Throws ERR_ENGINE_JAVA, ERR_ENGINE_MAVEN, ERR_ENGINE_DISK, ERR_ENGINE_START or ERR_ALREADY_RUNNING with one sentence.
 */
export async function startLocalNode(options: LocalNodeOptions): Promise<LocalNode> {
  const jdk = await selectJdk(options.engine, options);
  const { elasticsearchHome } = await prepareArtifacts({ ...options, models: false });
  for (const folder of ['elasticsearch', 'logs', 'snapshots']) await mkdir(join(options.dataDir, folder), { recursive: true, mode: 0o700 });
  await requireSpace(options.dataDir);
  const launcherDir = await compileLauncher(options.cacheDir, options.engine, elasticsearchHome, jdk);
  options.onProgress?.({ phase: 'engine', message: `starting Elasticsearch ${options.engine} on Java ${jdk.version}` });
  const jvm = { jdk, launcherDir, home: elasticsearchHome, dataDir: options.dataDir, heapMb: options.heapMb ?? 1024 };
  const started = await firstStart(jvm, options.httpPort ?? 0);
  const supervisor = new Supervisor(started, jvm, options.log);
  options.log('local elasticsearch is up', { url: supervisor.url, version: started.version, java: jdk.version, pid: started.engine.pid });
  return supervisor;
}

interface Started {
  readonly engine: EngineProcess;
  readonly httpPort: number;
  readonly version: string;
}

type JvmBase = Omit<JvmOptions, 'httpPort'>;

async function firstStart(jvm: JvmBase, wantedPort: number): Promise<Started> {
  const lockDeadline = performance.now() + LOCK_PATIENCE_MS;
  for (let tries = 1; ; tries += 1) {
    const httpPort = wantedPort === 0 ? await freePort() : wantedPort;
    const attempt = await startOnce(jvm, httpPort);
    if (!('fault' in attempt)) return attempt;
    const { fault, log } = attempt;
    if (fault.kind === 'locked') {
      const owner = await readOwner(jvm.dataDir);
      if (owner) throw new HindsightError('ERR_ALREADY_RUNNING', { params: { pid: owner }, cause: new Error(fault.detail) });
      if (performance.now() < lockDeadline) {
        await delay(BACKOFF_FIRST_MS);
        continue;
      }
    }
    if (fault.kind === 'port' && wantedPort === 0 && tries < PORT_TRIES) continue;
    throw startError(fault, log);
  }
}

async function startOnce(jvm: JvmBase, httpPort: number): Promise<Started | { fault: ReturnType<typeof explainStart>; log: string }> {
  const logPath = join(jvm.dataDir, 'logs', 'elasticsearch.log');
  const engine = await spawnEngine({ ...jvm, httpPort }, logPath);
  const outcome = await engine.waitReady(START_TIMEOUT_MS);
  if (outcome.kind === 'ready') {
    await writeOwner(jvm.dataDir, engine.pid);
    return { engine, httpPort, version: outcome.version };
  }
  await engine.stop(STOP_GRACE_MS);
  return { fault: explainStart(outcome.log, { dataDir: jvm.dataDir, logPath, httpPort, heapMb: jvm.heapMb }), log: outcome.log };
}

/** Holds the running child and brings it back, for ever, when it dies without having been asked to. */
class Supervisor implements LocalNode {
  readonly url: string;
  readonly version: string;
  readonly javaVersion: string;
  private engine: EngineProcess | undefined;
  private readonly jvm: JvmBase;
  private readonly httpPort: number;
  private readonly log: LocalNodeOptions['log'];
  private readonly stopping = new AbortController();
  private readonly downCallbacks: (() => void)[] = [];
  private readonly upCallbacks: (() => void)[] = [];
  private readonly loop: Promise<void>;

  constructor(started: Started, jvm: JvmBase, log: LocalNodeOptions['log']) {
    this.url = `http://127.0.0.1:${started.httpPort}`;
    this.version = started.version;
    this.javaVersion = jvm.jdk.version;
    this.engine = started.engine;
    this.jvm = jvm;
    this.httpPort = started.httpPort;
    this.log = log;
    this.loop = this.supervise(started.engine);
  }

  pid(): number | undefined {
    return this.engine?.pid;
  }

  onDown(callback: () => void): void {
    this.downCallbacks.push(callback);
  }

  onUp(callback: () => void): void {
    this.upCallbacks.push(callback);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.engine?.stop(STOP_GRACE_MS);
    await this.loop;
  }

  private async supervise(first: EngineProcess): Promise<void> {
    let engine: EngineProcess | undefined = first;
    let backoffMs = BACKOFF_FIRST_MS;
    while (!this.stopping.signal.aborted) {
      if (engine) {
        const upSince = performance.now();
        const end = await engine.exited;
        this.engine = undefined;
        if (this.stopping.signal.aborted) return;
        if (performance.now() - upSince > STEADY_MS) backoffMs = BACKOFF_FIRST_MS;
        this.log('local elasticsearch died, restarting', { code: end.code, signal: end.signal, backoff_ms: backoffMs });
        for (const callback of this.downCallbacks) callback();
      }
      await delay(backoffMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      engine = await this.restart();
    }
    // stop() may have come while a restart was under way
    await engine?.stop(STOP_GRACE_MS);
  }

  private async restart(): Promise<EngineProcess | undefined> {
    if (this.stopping.signal.aborted) return undefined;
    try {
      const attempt = await startOnce(this.jvm, this.httpPort);
      if ('fault' in attempt) {
        this.log('local elasticsearch did not restart', { kind: attempt.fault.kind, detail: attempt.fault.detail });
        return undefined;
      }
      this.engine = attempt.engine;
      this.log('local elasticsearch is up again', { url: this.url, pid: attempt.engine.pid });
      if (!this.stopping.signal.aborted) for (const callback of this.upCallbacks) callback();
      return attempt.engine;
    } catch (error) {
      this.log('local elasticsearch did not restart', { error: error instanceof Error ? error.name : 'unknown' });
      return undefined;
    }
  }
}

const OWNER_FILE = 'engine.json';

async function writeOwner(dataDir: string, enginePid: number | undefined): Promise<void> {
  const record = { service_pid: process.pid, engine_pid: enginePid };
  await writeFile(join(dataDir, OWNER_FILE), JSON.stringify(record), { mode: 0o600 });
}

/**
 * The service that runs an engine on this directory, when both are alive. Only asked after Lucene's lock has refused,
 * so a stale record whose ids were given to other processes can't block a start by itself.
 */
async function readOwner(dataDir: string): Promise<number | undefined> {
  try {
    const record = JSON.parse(await readFile(join(dataDir, OWNER_FILE), 'utf8')) as { service_pid: number; engine_pid: number };
    return isAlive(record.service_pid) && isAlive(record.engine_pid) ? record.service_pid : undefined;
  } catch {
    return undefined;
  }
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function requireSpace(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize >= NEEDED_BYTES) return;
  const detail = `Only ${Math.round((bavail * bsize) / 1e6)} MB are free at ${dataDir}: free at least 1 GB there or set DATA_DIR to another disk`;
  throw new HindsightError('ERR_ENGINE_DISK', { params: { detail } });
}
