/** The service under measurement: `serve --local` of the compiled program in a process of its own, as a user runs it. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readRunFile, type RunFile } from '../../src/cli/run-file.ts';
import { HttpClient } from './http-client.ts';
import { progress } from './progress.ts';

const root = join(import.meta.dirname, '..', '..');
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 25_000;
const POLL_MS = 50;

export interface ServiceOptions {
  readonly engineUrl: string;
  readonly prefix: string;
  /** DATA_DIR and the log; the same folder twice gives the same tokens. */
  readonly folder: string;
  /** Folder for CPU profiles. */
  readonly profile?: string | undefined;
  /** More variables, e.g. EMBEDDING_PROFILE. */
  readonly env?: Readonly<Record<string, string>>;
}

export class BenchService {
  readonly url: string;
  /** Token of the local user: all scopes, memory:admin among them. */
  readonly token: string;
  /** Token of the local agent: read, write, forget. */
  readonly agentToken: string;
  /** Where its keys lie, the issuer's among them. */
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #killAtExit: () => void;

  private constructor(child: ChildProcess, { url, token, agent_token }: RunFile, dataDir: string, killAtExit: () => void) {
    this.#child = child;
    this.url = url;
    this.token = token;
    this.agentToken = agent_token;
    this.dataDir = dataDir;
    this.#killAtExit = killAtExit;
  }

  /** Builds when sources are newer, starts on a free port, waits for run.json and /readyz. Shows the log's end when it dies. */
  static async start(options: ServiceOptions): Promise<BenchService> {
    build();
    const dataDir = join(options.folder, 'service');
    mkdirSync(dataDir, { recursive: true });
    const logPath = join(options.folder, 'service.log');
    const log = openSync(logPath, 'a');
    const port = await freePort();
    const profiling = options.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', options.profile];
    const child = spawn(process.execPath, [...profiling, join(root, 'dist', 'main.js'), 'serve', '--local', '--port', String(port)], {
      cwd: root,
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        LOG_LEVEL: 'warn',
        RATE_LIMIT_PROFILE: 'bench',
        ELASTICSEARCH_REPLICAS: '0',
        ...options.env,
        DATA_DIR: dataDir,
        ELASTICSEARCH_URL: options.engineUrl,
        ELASTICSEARCH_INDEX_PREFIX: options.prefix,
      },
    });
    closeSync(log);
    const killAtExit = (): void => void child.kill('SIGKILL');
    process.once('exit', killAtExit);
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
      const run = readRunFile(dataDir);
      if (run !== undefined && run.pid === child.pid && (await isReady(run.url))) {
        progress(`service ready (pid ${run.pid})`);
        return new BenchService(child, run, dataDir, killAtExit);
      }
      await delay(POLL_MS);
    }
    process.off('exit', killAtExit);
    child.kill('SIGKILL');
    throw new Error(`the service did not start; the end of its log:\n${readFileSync(logPath, 'utf8').slice(-2_000)}`);
  }

  /** A REST client with the user's token. */
  client(connections = 1): HttpClient {
    return new HttpClient(this.url, { authorization: `Bearer ${this.token}` }, connections);
  }

  /** Processor time the service has used so far, ms; undefined where the system does not tell. */
  cpuMs(): number | undefined {
    try {
      // proc(5): utime and stime are fields 14 and 15, in ticks of 10 ms; the name in brackets may hold spaces.
      const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    } catch {
      return undefined;
    }
  }

  /** SIGTERM, and SIGKILL when that does not end it. */
  async stop(): Promise<void> {
    process.off('exit', this.#killAtExit);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    const timeout = new AbortController();
    await Promise.race([ended, delay(STOP_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => undefined)]);
    timeout.abort();
    this.#child.kill('SIGKILL');
  }
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => (await response.arrayBuffer(), response.ok),
    () => false,
  );
}

let built = false;

/** The same build as `npm start` makes; once a run. */
function build(): void {
  if (!built && existsSync(join(root, 'src', 'bootstrap', 'prepare.mjs')))
    execFileSync(process.execPath, ['--input-type=module', '-e', "await (await import('./src/bootstrap/prepare.mjs')).build()"], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
  built = true;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
