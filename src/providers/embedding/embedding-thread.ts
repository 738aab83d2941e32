/** Owns one embedding worker thread: starts it, sends it one text at a time, watches it, and restarts it with back-off when it dies. */
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { EmbeddingRejected, EmbeddingUnavailable } from './provider.ts';
import { createRunGate, shutGate } from './run-gate.ts';
import type { WorkerMessage, WorkerRequest } from './worker-protocol.ts';

/** Longer than any one text or the loading of the models takes. */
const RETIRE_TIMEOUT_MS = 10_000;
/** process.exit() waits this long at most for the text being computed or the models being loaded. */
const EXIT_TIMEOUT_MS = 2_000;

export interface EmbeddingThreadOptions {
  /** The worker's module: `.ts` under tsx, `.js` when compiled. */
  readonly entry: URL;
  /** What the worker reads as workerData; a RunGate is added as `gate`. */
  readonly workerData: Readonly<Record<string, unknown>>;
  readonly startTimeoutMs?: number;
  readonly textTimeoutMs?: number;
  readonly firstRestartDelayMs?: number;
  readonly maxRestartDelayMs?: number;
}

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
  readonly watchdog: NodeJS.Timeout;
}

export class EmbeddingThread {
  readonly #options: Required<EmbeddingThreadOptions>;
  #worker: Worker | undefined;
  #started: Promise<void> | undefined;
  #starting: Waiter<void> | undefined;
  #running: Waiter<Float32Array> | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: EmbeddingThreadOptions) {
    this.#options = { startTimeoutMs: 60_000, textTimeoutMs: 30_000, firstRestartDelayMs: 500, maxRestartDelayMs: 30_000, ...options };
  }

  /** Resolves when the models are loaded; EmbeddingUnavailable when they cannot be, or while a restart is waiting. */
  async start(): Promise<void> {
    if (this.#closed) throw new EmbeddingUnavailable('the embedding worker is closed');
    if (this.#restartTimer !== undefined) throw new EmbeddingUnavailable('the embedding worker died and waits for its restart');
    this.#started ??= this.#spawn();
    return this.#started;
  }

  /** The vector of one text. One call at a time: the queue in front sees to that. */
  async run(space: string, text: string): Promise<Float32Array> {
    await this.start();
    const worker = this.#worker;
    if (worker === undefined) throw new EmbeddingUnavailable('the embedding worker is not running');
    if (this.#running !== undefined) throw new Error('the embedding worker takes one text at a time');
    return new Promise((resolve, reject) => {
      this.#running = { resolve, reject, watchdog: this.#watch(worker, this.#options.textTimeoutMs) };
      worker.postMessage({ type: 'embed', space, text } satisfies WorkerRequest);
    });
  }

  /** Resolves when the thread has ended: at most the text it is computing later (a tenth of a second). */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restartTimer);
    const worker = this.#worker;
    this.#forget(new EmbeddingUnavailable('the embedding worker is closed'));
    if (worker !== undefined) await retire(worker);
  }

  #spawn(): Promise<void> {
    const gate = createRunGate();
    const worker = spawnWorker(this.#options.entry, { ...this.#options.workerData, gate });
    const onProcessExit = (): void => {
      shutGate(gate, EXIT_TIMEOUT_MS);
    };
    process.once('exit', onProcessExit);
    this.#worker = worker;
    worker.on('message', (message: WorkerMessage) => {
      if (worker === this.#worker) this.#receive(message);
    });
    worker.on('error', (error) => {
      this.#down(worker, 'the embedding worker crashed', error);
    });
    worker.on('exit', (code) => {
      process.off('exit', onProcessExit);
      this.#down(worker, `the embedding worker ended with code ${String(code)}`);
    });
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject, watchdog: this.#watch(worker, this.#options.startTimeoutMs) };
    });
  }

  #receive(message: WorkerMessage): void {
    if (message.type === 'unusable') {
      const worker = this.#worker;
      if (worker !== undefined) this.#down(worker, message.reason);
      return;
    }
    if (message.type === 'ready') {
      clearTimeout(this.#starting?.watchdog);
      this.#starting?.resolve();
      this.#starting = undefined;
      return;
    }
    const running = this.#running;
    if (running === undefined) return;
    clearTimeout(running.watchdog);
    this.#running = undefined;
    this.#failures = 0;
    if (message.type === 'vector') running.resolve(message.vector);
    else if (message.type === 'rejected') running.reject(new EmbeddingRejected(message.reason));
    else running.reject(new EmbeddingUnavailable(message.reason));
  }

  /** Gives up a worker that shows no sign of life. */
  #watch(worker: Worker, timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#down(worker, `the embedding worker gave no answer in ${String(timeoutMs)} ms`);
    }, timeoutMs);
  }

  #down(worker: Worker, reason: string, cause?: unknown): void {
    if (worker !== this.#worker) return;
    void retire(worker);
    this.#failures += 1;
    const { firstRestartDelayMs, maxRestartDelayMs } = this.#options;
    const delayMs = Math.min(maxRestartDelayMs, firstRestartDelayMs * 2 ** (this.#failures - 1));
    // Before the waiters hear of it, so that what they try next fails at once instead of starting a second worker.
    this.#restartTimer = setTimeout(() => {
      this.#restartTimer = undefined;
      // A failed restart schedules the next one itself.
      this.start().catch(() => undefined);
    }, delayMs).unref();
    this.#forget(new EmbeddingUnavailable(reason, cause));
  }

  #forget(error: EmbeddingUnavailable): void {
    this.#worker = undefined;
    this.#started = undefined;
    for (const waiter of [this.#starting, this.#running]) {
      clearTimeout(waiter?.watchdog);
      waiter?.reject(error);
    }
    this.#starting = undefined;
    this.#running = undefined;
  }
}

/**
 * Asks the thread to end and resolves when it has, or after RETIRE_TIMEOUT_MS; it no longer keeps the process alive then.
 * Never terminate(): cutting into a running ONNX Runtime call aborts the whole process (uncaught Napi::Error, SIGABRT).
 */
async function retire(worker: Worker): Promise<void> {
  if (worker.threadId === -1) return;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage({ type: 'stop' } satisfies WorkerRequest);
  const patience = new AbortController();
  await Promise.race([ended, delay(RETIRE_TIMEOUT_MS, undefined, { signal: patience.signal }).catch(() => undefined)]);
  patience.abort();
  worker.unref();
}

/**
 * Under tsx a worker of Node 20 does not inherit the TypeScript loader: it is registered in the thread before the entry
 * is read. By path, since mocha loads this file as CommonJS, where resolving 'tsx/esm/api' gives a build that cannot
 * find its own hooks.
 */
function spawnWorker(entry: URL, workerData: unknown): Worker {
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, { workerData, execArgv: [] });
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = `import { register } from ${JSON.stringify(new URL('dist/esm/api/index.mjs', tsx))}; register();`;
  return new Worker(entry, { workerData, execArgv: ['--import', `data:text/javascript,${encodeURIComponent(loader)}`] });
}
