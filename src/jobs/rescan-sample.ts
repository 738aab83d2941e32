/** The nightly sample: 200 random records of each tenant judged anew, whatever revision let them in, with a report; run by a worker of its own. */
import { createHash } from 'node:crypto';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { RescanMarks, RescanQueue } from '../domain/ports.ts';
import type { RescanCounts, RescanJudge } from './rescan-judge.ts';
import type { Job } from './worker.ts';

export interface RescanSampleOptions {
  readonly queue: Pick<RescanQueue, 'withRecords' | 'drawn'>;
  readonly marks: Pick<RescanMarks, 'claimNight'>;
  readonly judge: RescanJudge;
  readonly clock: Clock;
  readonly onReport?: (tenant: string, night: string, counts: RescanCounts) => void;
}

/** How often it is asked whether a night has begun. */
export const RESCAN_SAMPLE_LOOK_MS = 600_000;
export const SAMPLE_SIZE = 200;
/** Nights begin at 03:00 UTC; what was off at that time is made up for at the next start. */
const NIGHT_BEGINS_MS = 3 * 3_600_000;

/** One run draws and judges a tenant's sample; of several processes one does it. */
export function createRescanSample({ queue, marks, judge, clock, onReport }: RescanSampleOptions): Job {
  let known = { night: '', tenants: new Set<string>(), all: false };
  const tonight = (): typeof known => {
    const night = nightOf(clock());
    if (known.night !== night) known = { night, tenants: new Set(), all: false };
    return known;
  };

  return {
    name: 'rescan-sample',
    due: async () => {
      const state = tonight();
      if (state.all) return [];
      const left = (await queue.withRecords()).filter((tenant) => !state.tenants.has(tenant));
      // a tenant made later is drawn from next night
      state.all = left.length === 0;
      return left;
    },
    run: async (tenant, { signal }) => {
      const { night, tenants } = tonight();
      // claimed first: a sample that fails half-way is told by the log, and the next night draws another
      const mine = await marks.claimNight(tenant, night);
      tenants.add(tenant);
      if (!mine) return 'idle';
      const counts = await judge(await queue.drawn(tenant, { size: SAMPLE_SIZE, seed: seedOf(tenant, night) }), signal);
      if (counts !== 'stopped') onReport?.(tenant, night, counts);
      return 'idle';
    },
  };
}

/** The night a time belongs to, by the day on which it begins: YYYY-MM-DD. */
export function nightOf(nowMs: number): string {
  return isoTime(nowMs - NIGHT_BEGINS_MS).slice(0, 10);
}

/** Another sample each night and tenant, the same one if it is drawn again. */
function seedOf(tenant: string, night: string): number {
  return (
    createHash('sha256')
      .update(JSON.stringify([tenant, night]))
      .digest()
      .readUInt32BE(0) >>> 1
  );
}
