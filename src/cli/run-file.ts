/** DATA_DIR/run.json (mode 0600): how other local programs find the running service; written by `serve`, removed when it stops. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RunFile {
  /** Base URL of the service, without a trailing slash. */
  readonly url: string;
  /** Token of the local tenant's user: all local scopes. */
  readonly token: string;
  /** Token for MCP clients: actor agent; read, write, forget. */
  readonly agent_token: string;
  readonly pid: number;
}

const pathOf = (dataDir: string): string => join(dataDir, 'run.json');

/** Replaces the file atomically. */
export function writeRunFile(dataDir: string, run: RunFile): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${pathOf(dataDir)}.${run.pid}`;
  writeFileSync(draft, `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, pathOf(dataDir));
}

/** The file's content, or undefined when there is none or it is damaged. */
export function readRunFile(dataDir: string): RunFile | undefined {
  try {
    const run = JSON.parse(readFileSync(pathOf(dataDir), 'utf8')) as Partial<RunFile>;
    return typeof run.url === 'string' && typeof run.pid === 'number' ? (run as RunFile) : undefined;
  } catch {
    return undefined;
  }
}

/** Takes the file away if it is this process's own. */
export function removeRunFile(dataDir: string, pid: number): void {
  if (readRunFile(dataDir)?.pid === pid) rmSync(pathOf(dataDir), { force: true });
}

/** Whether the process of a run file lives and answers at its URL (a re-used pid does not). */
export async function isAlive(run: RunFile): Promise<boolean> {
  try {
    process.kill(run.pid, 0);
    return (await fetch(`${run.url}/livez`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
