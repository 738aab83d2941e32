/** Takes parts down in reverse order of their start; one that fails or hangs is logged and does not keep the others up. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.ts';

/** Running calls alone may take 10 s to end. */
const STEP_MS = 12_000;
const LEAST_STEP_MS = 1_000;
/** The whole stop. docker-compose.yml gives the container longer, so that its end is ours and no kill. */
export const STOP_TOTAL_MS = 45_000;

interface Step {
  readonly name: string;
  readonly close: () => Promise<void> | void;
  readonly limitMs: number;
}

export class Teardown {
  readonly #steps: Step[] = [];
  readonly #logger: Logger;
  readonly #totalMs: number;
  #done: Promise<void> | undefined;

  constructor(logger: Logger, totalMs = STOP_TOTAL_MS) {
    this.#logger = logger;
    this.#totalMs = totalMs;
  }

  /** A part that takes longer than `limitMs` is left behind. */
  add(name: string, close: () => Promise<void> | void, limitMs = STEP_MS): void {
    this.#steps.push({ name, close, limitMs });
  }

  /** Adds a part as soon as it is up; the same promise comes back. */
  async track<T extends { close(): Promise<void> | void }>(name: string, starting: Promise<T>, limitMs = STEP_MS): Promise<T> {
    const part = await starting;
    this.add(name, () => part.close(), limitMs);
    return part;
  }

  /** Runs once, however often it is called. Every part is asked to close, also when the time for all is up. */
  run(): Promise<void> {
    this.#done ??= this.#run();
    return this.#done;
  }

  async #run(): Promise<void> {
    const deadline = performance.now() + this.#totalMs;
    for (const { name, close, limitMs } of this.#steps.reverse()) {
      const leftMs = Math.max(deadline - performance.now(), Math.min(LEAST_STEP_MS, this.#totalMs));
      await this.#close(name, close, Math.min(limitMs, leftMs));
    }
  }

  async #close(name: string, close: Step['close'], limitMs: number): Promise<void> {
    const patience = new AbortController();
    const late = delay(limitMs, 'late' as const, { signal: patience.signal }).catch(() => undefined);
    const closing = (async () => close())().catch((err: unknown) => this.#logger.error({ part: name, err }, 'part did not close cleanly'));
    const first = await Promise.race([closing, late]);
    patience.abort();
    if (first === 'late') this.#logger.error({ part: name, limit_ms: Math.round(limitMs) }, 'part did not close in time');
  }
}
