/** The worker: runs one job tenant by tenant, at once when nudged and by looking from time to time; backs off in outages and drains on stop. */
import type { Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import { openTrace } from '../telemetry/trace.ts';
import { withTrace } from '../telemetry/trace-context.ts';

export interface Run {
  /** True when a write or a finished batch asked for it: what it wrote may not be visible to searches yet. */
  readonly nudged: boolean;
  /** Aborted when the worker is to stop: finish what is begun, begin nothing new. */
  readonly signal: AbortSignal;
}

export interface Job {
  readonly name: string;
  /** Tenants with work, found by looking. */
  due(): Promise<readonly string[]>;
  /** One batch of a tenant; `more` when another is likely to be waiting. */
  run(tenant: string, run: Run): Promise<'more' | 'idle'>;
}

export interface WorkerOptions {
  readonly job: Job;
  readonly clock: Clock;
  /** Resolves or rejects early when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Pause between looks for work nobody told of, ms. */
  readonly pollMs?: number;
  readonly onError?: (job: string, error: unknown, pauseMs: number) => void;
}

export interface Worker {
  start(): void;
  /** A tenant has work. Cheap; many calls make one run. `waited`: somebody's answer waits for it. */
  nudge(tenant: string, waited?: boolean): void;
  /** Resolves when the batch that runs is finished; nothing is begun after. */
  stop(): Promise<void>;
}

const POLL_MS = 5_000;
/** Gathers the nudges of a burst of writes, so that they cost one refresh. */
const NUDGE_MS = 20;
/** The same for a stream of them, which is one when the last run ended less than this ago: runs would else follow one another without end, each with its refresh. */
const STREAM_MS = 500;
const STREAM_NUDGE_MS = 200;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;

/** Faults of what all tenants share: the whole worker pauses; any other fault is the tenant's own. */
const SHARED_FAULTS: ReadonlySet<string> = new Set(['ERR_EMBEDDING_UNAVAILABLE', 'ERR_STORE_UNAVAILABLE']);

interface Ready {
  readonly atMs: number;
  readonly nudged: boolean;
}

/** One loop, one batch at a time, tenants in turn. */
export function createWorker(options: WorkerOptions): Worker {
  const { job, clock, sleep, pollMs = POLL_MS } = options;
  const ready = new Map<string, Ready>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  let sharedFailures = 0;
  let pausedUntilMs = 0;
  let nextLookMs = 0;
  let ranAtMs = -Infinity;
  let wake = new AbortController();
  let loop: Promise<void> | undefined;

  const pauseOf = (count: number): number => Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));

  /** Every look and every run is a trace of its own. */
  const traced = <T>(work: () => T): T => withTrace(openTrace(), job.name, work);

  const failed = (error: unknown, tenant: string | undefined): void => {
    const shared = tenant === undefined || (error instanceof HindsightError && SHARED_FAULTS.has(error.code));
    const count = shared ? (sharedFailures += 1) : (failures.get(tenant) ?? 0) + 1;
    const pauseMs = pauseOf(count);
    if (shared) pausedUntilMs = clock() + pauseMs;
    else failures.set(tenant, count);
    if (tenant !== undefined) ready.set(tenant, { atMs: clock() + (shared ? 0 : pauseMs), nudged: true });
    options.onError?.(job.name, error, pauseMs);
  };

  const look = async (): Promise<void> => {
    nextLookMs = clock() + pollMs;
    await traced(async () => {
      try {
        for (const tenant of await job.due()) if (!ready.has(tenant)) ready.set(tenant, { atMs: clock(), nudged: false });
      } catch (error) {
        failed(error, undefined);
      }
    });
  };

  const runOne = async (tenant: string, nudged: boolean): Promise<void> => {
    // Taken out before the run: a nudge that comes while it runs asks for another one.
    ready.delete(tenant);
    ranAtMs = clock();
    await traced(async () => {
      try {
        const left = await job.run(tenant, { nudged, signal: stopping.signal });
        sharedFailures = 0;
        failures.delete(tenant);
        // As after a nudge: unrefreshed, the next claim would find the batch just done, get none of it and sleep until the next look.
        if (left === 'more' && !ready.has(tenant)) ready.set(tenant, { atMs: clock(), nudged: true });
      } catch (error) {
        failed(error, tenant);
      }
    });
    ranAtMs = clock();
  };

  const step = async (): Promise<void> => {
    const nowMs = clock();
    if (nowMs >= pausedUntilMs) {
      if (nowMs >= nextLookMs) return look();
      const next = [...ready].find(([, { atMs }]) => atMs <= nowMs);
      if (next !== undefined) return runOne(next[0], next[1].nudged);
    }
    const untilMs = Math.max(pausedUntilMs, Math.min(nextLookMs, ...[...ready.values()].map(({ atMs }) => atMs)));
    await sleep(Math.max(1, untilMs - nowMs), wake.signal).catch(() => undefined);
  };

  return {
    start: () => {
      loop ??= (async () => {
        while (!stopping.signal.aborted) {
          if (wake.signal.aborted) wake = new AbortController();
          await step();
        }
      })();
    },
    nudge: (tenant, waited = false) => {
      const known = ready.get(tenant);
      const nowMs = clock();
      const atMs = nowMs + (!waited && nowMs - ranAtMs < STREAM_MS ? STREAM_NUDGE_MS : NUDGE_MS);
      // An earlier time stays, also that of a tenant that is backing off.
      ready.set(tenant, {
        atMs: known === undefined ? atMs : failures.has(tenant) ? known.atMs : Math.min(known.atMs, atMs),
        nudged: true,
      });
      wake.abort();
    },
    stop: async () => {
      stopping.abort();
      wake.abort();
      await loop;
    },
  };
}
