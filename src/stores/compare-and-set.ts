/** One document of an index read with its position and written only where nobody else was faster; what stores of a few shared documents are made of. */
import type { SeqNo } from '../domain/memory.ts';
import { errorStatus, mapStoreError, RETRY, storeCall, type StoreClient } from '../elastic/client.ts';

export interface CompareAndSet {
  /** Realtime; undefined when there is none. Errors: ERR_STORE_*. */
  readonly read: <T>(id: string) => Promise<{ readonly source: T; readonly at: SeqNo } | undefined>;
  /** Made when `at` is undefined, replaced at that position otherwise; `conflict` when somebody else was faster. Errors: ERR_STORE_*. */
  readonly write: (id: string, document: object, at: SeqNo | undefined) => Promise<'kept' | 'conflict'>;
}

export function compareAndSet(client: StoreClient, index: string): CompareAndSet {
  return {
    async read<T>(id: string) {
      const found = await storeCall(() => client.get<T>({ index, id }, { ...RETRY, ignore: [404] }));
      if (!found.found || found._source === undefined) return undefined;
      return { source: found._source, at: { seq_no: found._seq_no ?? 0, primary_term: found._primary_term ?? 0 } };
    },
    async write(id, document, at) {
      const position = at === undefined ? ({ op_type: 'create' } as const) : { if_seq_no: at.seq_no, if_primary_term: at.primary_term };
      try {
        await client.index({ index, id, document, ...position });
        return 'kept';
      } catch (error) {
        if (errorStatus(error) === 409) return 'conflict';
        throw mapStoreError(error);
      }
    },
  };
}
