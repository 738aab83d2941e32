/** Read-your-writes marks: which tenants have writes that no search has made visible; in the process, or in Redis for several replicas. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../domain/clock.ts';
import type { DirtyMarks } from '../domain/ports.ts';
import type { Breaker } from './breaker.ts';
import { redisKey } from './keys.ts';

/** Long past refresh_interval (10 s), after which everything is visible without our help. */
const MARK_TTL_SECONDS = 60;
/** After an outage other replicas may hold marks that never reached Redis; after this time a refresh has made them moot. */
const DOUBT_AFTER_OUTAGE_MS = 12_000;
const MARK_BYTES = 9;

/**
 * What this process has made visible. A mark counts as seen only when the refresh after it is through: with a mark that is taken away
 * first, a second search at the same time would find none and run before the refresh.
 */
class SeenMarks {
  readonly #seen = new Map<string, string>();
  readonly #running = new Map<string, { readonly mark: string; readonly done: Promise<void> }>();

  async settle(tenant: string, mark: string, refresh: () => Promise<void>): Promise<void> {
    if (this.#seen.get(tenant) === mark) return;
    const running = this.#running.get(tenant);
    // begun after the same mark was read, so it shows the same writes
    if (running?.mark === mark) return running.done;
    const done = refresh();
    const mine = { mark, done };
    this.#running.set(tenant, mine);
    try {
      await done;
      // an older refresh that ends late must not hide that a newer mark was seen; at worst one refresh too many follows
      if (this.#running.get(tenant) === mine) this.#seen.set(tenant, mark);
    } finally {
      if (this.#running.get(tenant) === mine) this.#running.delete(tenant);
    }
  }

  forget(tenant: string): void {
    this.#seen.delete(tenant);
  }
}

const newMark = (): string => randomBytes(MARK_BYTES).toString('base64url');

/** For one replica. */
export function processDirtyMarks(): DirtyMarks {
  const marks = new Map<string, string>();
  const seen = new SeenMarks();
  return {
    async mark(tenant) {
      marks.set(tenant, newMark());
    },
    async settle(tenant, refresh) {
      const mark = marks.get(tenant);
      if (mark === undefined) return;
      await seen.settle(tenant, mark, refresh);
      if (marks.get(tenant) !== mark) return;
      marks.delete(tenant);
      seen.forget(tenant);
    },
  };
}

/**
 * For several replicas: each refreshes once for each mark it finds, so none depends on another's refresh being through. While Redis is
 * away, and for 12 s after, every search refreshes: one too many costs 3-7 ms (measured), one too few loses a read of an own write.
 */
export function redisDirtyMarks(parts: {
  readonly redis: Redis;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly prefix: string;
  /** A search was answered without Redis. */
  readonly onShortcut?: () => void;
}): DirtyMarks {
  const { redis, breaker, clock } = parts;
  const keyOf = (tenant: string): string => redisKey(parts.prefix, 'dirty', tenant);
  const seen = new SeenMarks();
  return {
    async mark(tenant) {
      // a mark that cannot be set is covered by the doubt of this process; that of other replicas begins with their own failure
      await breaker.run(
        async () => void (await redis.set(keyOf(tenant), newMark(), 'EX', MARK_TTL_SECONDS)),
        () => undefined,
      );
    },
    async settle(tenant, refresh) {
      const mark = await breaker.run<string | null | undefined>(
        () => redis.get(keyOf(tenant)),
        () => {
          parts.onShortcut?.();
          return undefined;
        },
      );
      if (mark === undefined || clock() < breaker.openUntilMs + DOUBT_AFTER_OUTAGE_MS) return refresh();
      if (mark === null) return seen.forget(tenant);
      return seen.settle(tenant, mark, refresh);
    },
  };
}
