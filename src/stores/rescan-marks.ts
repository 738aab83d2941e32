/** How far the rescan is, a tenant's mark in one small document, so that no head is rewritten to say that it was looked at; jobs/rescan keeps them. */
import { isoTime, type Clock } from '../domain/clock.ts';
import type { SeqNo } from '../domain/memory.ts';
import type { RescanMark, RescanMarks } from '../domain/ports.ts';
import { errorStatus, mapStoreError, RETRY, storeCall, type StoreClient } from '../elastic/client.ts';
import { globalIndex, tenantHash } from '../elastic/placement.ts';

export interface RescanMarksOptions {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly clock: Clock;
}

/** RescanMarks on `<prefix>-rescan`, realtime reads only. Errors: ERR_STORE_*. */
export function createRescanMarks({ client, prefix, clock }: RescanMarksOptions): RescanMarks {
  const index = globalIndex(prefix, 'rescan');

  const read = async <T>(id: string): Promise<{ readonly source: T; readonly at: SeqNo } | undefined> => {
    const found = await storeCall(() => client.get<T>({ index, id }, { ...RETRY, ignore: [404] }));
    if (!found.found || found._source === undefined) return undefined;
    return { source: found._source, at: { seq_no: found._seq_no ?? 0, primary_term: found._primary_term ?? 0 } };
  };

  const write = async (id: string, document: object, at: SeqNo | undefined): Promise<'kept' | 'conflict'> => {
    const position = at === undefined ? ({ op_type: 'create' } as const) : { if_seq_no: at.seq_no, if_primary_term: at.primary_term };
    try {
      await client.index({ index, id, document, ...position });
      return 'kept';
    } catch (error) {
      if (errorStatus(error) === 409) return 'conflict';
      throw mapStoreError(error);
    }
  };

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
