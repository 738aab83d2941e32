/** The compiled program as a child process, as a person starts it: its output, its end, and the service that it became. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunFile } from '../../src/cli/run-file.ts';
import { engineCacheDir, testEngine } from './engine.ts';

export const REPOSITORY = join(import.meta.dirname, '..', '..');
/** `npm test` builds it first. */
export const MAIN = join(REPOSITORY, 'dist', 'main.js');
const POLL_MS = 50;
const START_PATIENCE_MS = 120_000;

/** What a child gets: nothing of this process's configuration. */
export function programEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const base: Record<string, string> = { HINDSIGHT_CACHE_DIR: engineCacheDir(), ENGINE_VERSION: testEngine(), ENGINE_HEAP_MB: '512' };
  for (const name of ['PATH', 'HOME', 'JAVA_HOME']) if (process.env[name] !== undefined) base[name] = process.env[name];
  return { ...base, ...env };
}

export class Program {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #gone = false;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(command, args, { cwd: REPOSITORY, env: programEnv(env), stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code, signal) => {
        this.#gone = true;
        resolve({ code, signal });
      });
    });
  }

  static main(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    return new Program(process.execPath, [MAIN, ...args], env);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Waits until `test` holds; fails with the output when the program ends before or the time is up. */
  async until(test: () => boolean, patienceMs = START_PATIENCE_MS): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!test()) {
      if (this.#gone || performance.now() > deadline)
        throw new Error(`${this.#gone ? 'the program ended' : 'the time is up'}\nstdout: ${this.stdout}\nstderr: ${this.stderr}`);
      await delay(POLL_MS);
    }
  }

  /** The lines of the log with this message. */
  logged(message: string): Readonly<Record<string, unknown>>[] {
    const lines = this.stderr.split('\n').filter((line) => line.startsWith('{'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['msg'] === message);
  }

  /** Ends it at once if it is still there. */
  async kill(): Promise<void> {
    if (!this.#gone) this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** The sentence on stderr and the exit code of a command that is expected to end by itself. */
export async function outcome(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; said: string }> {
  const program = Program.main(args, env);
  const { code } = await program.exited;
  const said = program.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  return { code, said: said.join('\n') };
}

export interface Running {
  readonly program: Program;
  readonly run: RunFile;
  /** Process id and URL of the managed engine, as the log tells them. */
  readonly engine: { readonly pid: number; readonly url: string };
  call(method: string, path: string, body?: unknown, token?: string): Promise<{ status: number; headers: Headers; body: Answer }>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
type Answer = any;

/** `serve --local` on a data directory, waited for until it has printed its banner. */
export async function serveLocal(dataDir: string, port: number, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const program = Program.main(['serve', '--local', '--data-dir', dataDir, '--port', String(port)], {
    RATE_LIMIT_PROFILE: 'bench',
    ...env,
  });
  await program.until(() => program.stdout.includes('Stop with Ctrl-C'));
  const run = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile;
  const up = program.logged('local elasticsearch is up')[0] ?? {};
  return {
    program,
    run,
    engine: { pid: Number(up['pid']), url: String(up['url']) },
    async call(method, path, body, token = run.token) {
      const response = await fetch(run.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}

/** Asks again until the answer passes; fails when the time is up. */
export async function eventually<T>(ask: () => Promise<T>, passes: (value: T) => boolean, patienceMs = 60_000): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const value = await ask();
    if (passes(value)) return value;
    if (performance.now() > deadline) throw new Error(`not in ${patienceMs} ms: ${JSON.stringify(value)?.slice(0, 500)}`);
    await delay(POLL_MS);
  }
}

/** Whether a process of this id is there (a zombie of ours is not). */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux';
  }
}

/** Removes all indices and templates under a prefix. */
export async function dropEverything(engineUrl: string, prefix: string): Promise<void> {
  const names = (await (await fetch(`${engineUrl}/${prefix}-*/_settings?filter_path=*.settings.index.uuid`)).json()) as object;
  for (const index of Object.keys(names)) await fetch(`${engineUrl}/${index}`, { method: 'DELETE' });
  await fetch(`${engineUrl}/_index_template/${prefix}-*`, { method: 'DELETE' });
}
