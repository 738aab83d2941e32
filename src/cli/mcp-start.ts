/** Starts `serve --local` for the stdio entry when no service is alive: detached, behind a lock, so that racing clients start one. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withCacheLock } from '../elastic/local/cache-lock.ts';
import { isAlive as isThere } from '../elastic/local/process-alive.ts';
import { openDataDir } from './data-dir.ts';
import { isAlive, readRunFile, type RunFile } from './run-file.ts';

const POLL_MS = 150;
const NOTE_MS = 5_000;
const ROTATE_BYTES = 20_000_000;
const TAIL_BYTES = 65_536;

export interface StartOptions {
  readonly dataDir: string;
  /** Further options of `serve`. */
  readonly args: readonly string[];
  /** Tells a person how it goes on. */
  readonly note: (line: string) => void;
}

/** The service did not come up; the message is what it said itself, for a person. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed';
}

/** A start that is under way: which process, and where in the log its words begin. */
interface Starting {
  readonly pid: number;
  readonly log_from: number;
}

/**
 * The run file of the living service, once it answers. Another process that is starting it is waited for; a start whose own starter has
 * left in the meantime is joined. Throws StartFailed.
 */
export async function startService({ dataDir, args, note }: StartOptions): Promise<RunFile> {
  openDataDir(dataDir);
  const onWait = (pid: number): void => note(`another process (pid ${pid}) is starting the service, waiting for it`);
  return withCacheLock(join(dataDir, 'start.lock'), onWait, async () => {
    const running = await living(dataDir);
    if (running !== undefined) return running;
    const known = readStarting(dataDir);
    const starting = known !== undefined && isThere(known.pid) ? known : launch(dataDir, args);
    if (starting === known) note(`the service is being started already (pid ${starting.pid})`);
    else note(`no service is running: starting one in the background (pid ${starting.pid}, log ${logPath(dataDir)})`);
    try {
      return await untilReady(dataDir, starting, note);
    } finally {
      rmSync(startingPath(dataDir), { force: true });
    }
  });
}

/** Own process group and no pipes: it outlives this client, and serves the next one. */
function launch(dataDir: string, args: readonly string[]): Starting {
  const log = openLog(dataDir);
  try {
    const logFrom = fstatSync(log).size;
    const entry = [...process.execArgv, process.argv[1] ?? ''];
    const child = spawn(process.execPath, [...entry, 'serve', '--local', '--data-dir', dataDir, ...args], {
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.once('error', () => undefined);
    child.unref();
    const starting: Starting = { pid: child.pid ?? 0, log_from: logFrom };
    writeFileSync(startingPath(dataDir), JSON.stringify(starting), { mode: 0o600 });
    return starting;
  } finally {
    closeSync(log);
  }
}

async function untilReady(dataDir: string, { pid, log_from }: Starting, note: (line: string) => void): Promise<RunFile> {
  const began = performance.now();
  let notedAt = began;
  for (;;) {
    const running = await living(dataDir);
    if (running !== undefined) {
      note(`the service is ready at ${running.url} (${((performance.now() - began) / 1_000).toFixed(1)} s)`);
      return running;
    }
    if (!isThere(pid)) throw new StartFailed(lastWords(dataDir, log_from));
    if (performance.now() - notedAt > NOTE_MS) {
      notedAt = performance.now();
      note(`the service is starting … ${Math.round((notedAt - began) / 1_000)} s${currentStep(dataDir, log_from)}`);
    }
    await delay(POLL_MS);
  }
}

/** The run file of a service that answers. */
export async function living(dataDir: string): Promise<RunFile | undefined> {
  const run = readRunFile(dataDir);
  return run !== undefined && (await isAlive(run)) ? run : undefined;
}

const startingPath = (dataDir: string): string => join(dataDir, 'starting.json');
const logPath = (dataDir: string): string => join(dataDir, 'logs', 'service.log');

function readStarting(dataDir: string): Starting | undefined {
  try {
    const found = JSON.parse(readFileSync(startingPath(dataDir), 'utf8')) as Partial<Starting>;
    return typeof found.pid === 'number' && typeof found.log_from === 'number' ? (found as Starting) : undefined;
  } catch {
    return undefined;
  }
}

function openLog(dataDir: string): number {
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  const path = logPath(dataDir);
  if (existsSync(path) && statSync(path).size > ROTATE_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

/** What `serve` wrote since then; lines of the log are JSON, its last sentence is not. */
function linesSince(dataDir: string, from: number): string[] {
  try {
    return readFileSync(logPath(dataDir)).subarray(from).subarray(-TAIL_BYTES).toString('utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function lastWords(dataDir: string, from: number): string {
  const sentence = linesSince(dataDir, from).findLast((line) => line.startsWith('hindsight-es: '));
  const reason = sentence?.slice('hindsight-es: '.length) ?? 'it ended without a word';
  return `The service could not be started: ${reason} (log: ${logPath(dataDir)})`;
}

function currentStep(dataDir: string, from: number): string {
  for (const line of linesSince(dataDir, from).reverse()) {
    if (!line.includes('"phase"')) continue;
    const { phase, msg } = parsed(line);
    if (phase !== undefined) return `: ${phase}${msg === undefined ? '' : `, ${msg}`}`;
  }
  return '';
}

function parsed(line: string): { readonly phase?: string; readonly msg?: string } {
  try {
    return JSON.parse(line) as { phase?: string; msg?: string };
  } catch {
    return {};
  }
}
