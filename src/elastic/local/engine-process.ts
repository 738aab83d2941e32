/** One Elasticsearch JVM as a child process: spawned, waited for until it answers, and stopped; node.ts supervises it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { jdkTool } from './java.ts';
import { jvmArguments, type JvmOptions } from './jvm.ts';

const READY_POLL_MS = 100;
const REQUEST_TIMEOUT_MS = 5_000;
const LOG_ROTATE_BYTES = 20e6;
const LOG_TAIL_BYTES = 64 * 1024;

export type ReadyOutcome =
  | { readonly kind: 'ready'; readonly version: string }
  | { readonly kind: 'exited'; readonly log: string }
  | { readonly kind: 'timeout'; readonly log: string };

export interface EngineProcess {
  readonly pid: number | undefined;
  /** Resolves when the JVM has gone, with what it left with. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Waits until this very process answers over HTTP with a cluster that is yellow or green. */
  waitReady(timeoutMs: number): Promise<ReadyOutcome>;
  /** Asks it to close, waits `graceMs`, then kills it; resolves when it has gone. */
  stop(graceMs: number): Promise<void>;
}

/** Starts the JVM; output goes to `logPath`, which is rotated to `.1` first when it has grown over 20 MB. `headers` go with each probe. */
export async function spawnEngine(options: JvmOptions, logPath: string, headers: Readonly<Record<string, string>>): Promise<EngineProcess> {
  const logFrom = await rotate(logPath);
  const out = openSync(logPath, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(jdkTool(options.jdk, 'java'), jvmArguments(options), {
      cwd: options.dataDir,
      // The JVM watches the pipe: it closes when this process dies, however it dies.
      stdio: ['pipe', out, out],
      // Own process group: Ctrl-C in the terminal must reach the service alone, which drains first and then stops the engine.
      detached: true,
      env: { LANG: 'C.UTF-8' }, // the service's environment holds secrets that the engine does not need
    });
  } finally {
    closeSync(out);
  }
  let gone = false;
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  }).then((end) => {
    gone = true;
    return end;
  });
  child.stdin?.on('error', () => undefined); // EPIPE after its death is no news
  const url = `http://127.0.0.1:${options.httpPort}`;

  return {
    pid: child.pid,
    exited,
    async waitReady(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (performance.now() < deadline) {
        if (gone) return { kind: 'exited', log: await readFrom(logPath, logFrom) };
        const version = await readyVersion(url, headers, child.pid);
        if (version !== undefined) return { kind: 'ready', version };
        await Promise.race([delay(READY_POLL_MS), exited]);
      }
      return { kind: 'timeout', log: await readFrom(logPath, logFrom) };
    },
    async stop(graceMs) {
      if (gone) return;
      child.stdin?.end();
      child.kill('SIGTERM');
      const patience = new AbortController();
      const outOfTime = delay(graceMs, 'late', { signal: patience.signal }).catch(() => undefined);
      if ((await Promise.race([exited, outOfTime])) === 'late') child.kill('SIGKILL');
      patience.abort();
      await exited;
    },
  };
}

/** The engine's version once it is up; undefined before, and when another process answers on that port. */
async function readyVersion(url: string, headers: Readonly<Record<string, string>>, pid: number | undefined): Promise<string | undefined> {
  const health = await getJson(`${url}/_cluster/health?filter_path=status`, headers);
  if (health === undefined || !['yellow', 'green'].includes((health as { status?: string }).status ?? '')) return undefined;
  const info = (await getJson(`${url}/_nodes/_local/process?filter_path=nodes.*.version,nodes.*.process.id`, headers)) as
    { nodes?: Record<string, { version: string; process: { id: number } }> } | undefined;
  const node = Object.values(info?.nodes ?? {})[0];
  return node?.process.id === pid ? node?.version : undefined;
}

async function getJson(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    return response.ok ? await response.json() : void (await response.body?.cancel());
  } catch {
    return undefined; // not listening yet
  }
}

/** Renames a log that has grown too long; returns the offset at which the next run's lines begin. */
async function rotate(path: string): Promise<number> {
  const size = await stat(path).then(
    (info) => info.size,
    () => 0,
  );
  if (size <= LOG_ROTATE_BYTES) return size;
  await rename(path, `${path}.1`);
  return 0;
}

/** The last 64 kB of the log written since `from`. */
async function readFrom(path: string, from: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(from, size - LOG_TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    await file.read(buffer, 0, buffer.length, start);
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}
