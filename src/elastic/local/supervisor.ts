/** Keeps a started engine alive: notices its death, restarts it with back-off on the same port, and stops it for good when asked. */
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineProcess } from './engine-process.ts';
import { startOnce, STOP_GRACE_MS, type JvmBase, type Started } from './engine-start.ts';

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** An engine that ran this long before it died starts again with the shortest back-off. */
const STEADY_MS = 60_000;

/** Log sink: lowercase message, facts as fields; level info where none is given. */
export type EngineLog = (message: string, fields: Readonly<Record<string, unknown>>, level?: 'info' | 'warn') => void;

/** The running engine of one data directory; its port never changes. */
export class Supervisor {
  private engine: EngineProcess | undefined;
  private readonly jvm: JvmBase;
  private readonly httpPort: number;
  private readonly log: EngineLog;
  private readonly stopping = new AbortController();
  private readonly downCallbacks: (() => void)[] = [];
  private readonly upCallbacks: (() => void)[] = [];
  private readonly loop: Promise<void>;

  constructor(started: Started, jvm: JvmBase, log: EngineLog) {
    this.engine = started.engine;
    this.jvm = jvm;
    this.httpPort = started.httpPort;
    this.log = log;
    this.loop = this.supervise(started.engine);
  }

  /** Process id of the JVM, also while it is still starting; undefined when there is none. */
  pid(): number | undefined {
    return this.engine?.pid;
  }

  onDown(callback: () => void): void {
    this.downCallbacks.push(callback);
  }

  onUp(callback: () => void): void {
    this.upCallbacks.push(callback);
  }

  /** Closes the engine within 20 s, else kills it; no restart follows. */
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
        this.log('local elasticsearch died, restarting', { code: end.code, signal: end.signal, backoff_ms: backoffMs }, 'warn');
        this.tell(this.downCallbacks);
      }
      await delay(backoffMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      engine = await this.restart();
    }
  }

  private async restart(): Promise<EngineProcess | undefined> {
    if (this.stopping.signal.aborted) return undefined;
    try {
      const attempt = await startOnce(this.jvm, this.httpPort, (engine) => {
        this.engine = engine;
        if (this.stopping.signal.aborted) void engine.stop(STOP_GRACE_MS);
      });
      if ('fault' in attempt) {
        this.engine = undefined;
        this.log('local elasticsearch did not restart', { kind: attempt.fault.kind, detail: attempt.fault.detail }, 'warn');
        return undefined;
      }
      this.log('local elasticsearch is up again', { port: this.httpPort, pid: attempt.engine.pid });
      this.tell(this.upCallbacks);
      return attempt.engine;
    } catch (error) {
      this.log('local elasticsearch did not restart', { error: error instanceof Error ? error.message : String(error) }, 'warn');
      return undefined;
    }
  }

  /** A listener's fault must not end the supervision. */
  private tell(callbacks: readonly (() => void)[]): void {
    for (const callback of callbacks) {
      try {
        callback();
      } catch (error) {
        this.log('engine listener failed', { error: error instanceof Error ? error.message : String(error) }, 'warn');
      }
    }
  }
}
