/** How far the rescan is, a tenant's mark in one small document, so that no head is rewritten to say that it was looked at; jobs/rescan keeps them. */
import { isoTime, type Clock } from '../domain/clock.ts';
import type { RescanMark, RescanMarks } from '../domain/ports.ts';
import type { StoreClient } from '../elastic/client.ts';
import { globalIndex, tenantHash } from '../elastic/placement.ts';
import { compareAndSet } from './compare-and-set.ts';

export interface RescanMarksOptions {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly clock: Clock;
}

/** RescanMarks on `<prefix>-rescan`, realtime reads only. Errors: ERR_STORE_*. */
export function createRescanMarks({ client, prefix, clock }: RescanMarksOptions): RescanMarks {
  const index = globalIndex(prefix, 'rescan');
  const { read, write } = compareAndSet(client, index);

  return {
    async mark(tenant) {
      const found = await read<RescanMark & Record<string, unknown>>(idOf(tenant, 'pass'));
      if (found === undefined) return undefined;
      const { tenant: _tenant, job: _job, updated_at: _at, ...mark } = found.source;
      return { mark, at: found.at };
    },

    keepMark: (tenant, mark, at) => write(idOf(tenant, 'pass'), { ...mark, tenant, job: 'pass', updated_at: isoTime(clock()) }, at),

    async claimNight(tenant, night) {
      const id = idOf(tenant, 'sample');
      const found = await read<{ readonly night: string }>(id);
      if (found !== undefined && found.source.night >= night) return false;
      return (await write(id, { tenant, job: 'sample', night, updated_at: isoTime(clock()) }, found?.at)) === 'kept';
    },
  };
}

function idOf(tenant: string, job: 'pass' | 'sample'): string {
  return `${tenantHash(tenant)}-${job}`;
}
