/**
 * The keys index, `<prefix>-keys`: one ring a tenant, and the check values of the master keys. Its name is outside `<prefix>-mem-*`, the
 * pattern that snapshots of memories are taken by: a snapshot that held both would hold what deleting a key is to make unreadable.
 */
import { isoTime, type Clock } from '../domain/clock.ts';
import type { SeqNo } from '../domain/memory.ts';
import { RETRY, storeCall, type StoreClient } from '../elastic/client.ts';
import { globalIndex, tenantHash } from '../elastic/placement.ts';
import { mastersOf, type KeyRing } from '../keys/ring.ts';
import { compareAndSet } from './compare-and-set.ts';

export interface KeyRingsOptions {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly clock: Clock;
}

export interface StoredRing {
  readonly ring: KeyRing;
  readonly at: SeqNo;
}

/** Check values by master key id. */
export interface MasterChecks {
  readonly checks: Readonly<Record<string, string>>;
  readonly at: SeqNo;
}

/** Realtime reads and compare-and-set writes; `undefined` as position means there is none yet (op_type=create). Errors: ERR_STORE_*. */
export interface KeyRings {
  ring(tenant: string): Promise<StoredRing | undefined>;
  keepRing(ring: KeyRing, at: SeqNo | undefined): Promise<'kept' | 'conflict'>;
  masters(): Promise<MasterChecks | undefined>;
  keepMasters(checks: MasterChecks['checks'], at: SeqNo | undefined): Promise<'kept' | 'conflict'>;
  /** Every ring, in pages; what is written meanwhile may be left out. */
  all(): AsyncIterable<readonly StoredRing[]>;
  /**
   * Takes replaced documents out of the index's files: a key that was overwritten is gone only then. False while some are left: the engine
   * keeps them for its retention lease, 30 s (measured on 8.19.9). Never throws.
   */
  purge(): Promise<boolean>;
}

const PAGE = 200;
const MASTERS_ID = 'masters';

interface RingDocument extends Omit<KeyRing, 'tenant'> {
  readonly record_type: 'ring';
  readonly tenant: string;
  readonly masters: readonly string[];
  readonly updated_at: string;
}

export function createKeyRings({ client, prefix, clock }: KeyRingsOptions): KeyRings {
  const index = globalIndex(prefix, 'keys');
  const { read, write } = compareAndSet(client, index);

  return {
    async ring(tenant) {
      const found = await read<RingDocument>(tenantHash(tenant));
      return found && { ring: ringOf(found.source), at: found.at };
    },
    keepRing: (ring, at) =>
      write(
        tenantHash(ring.tenant),
        { ...ring, record_type: 'ring', masters: mastersOf(ring), updated_at: isoTime(clock()) } satisfies RingDocument,
        at,
      ),
    async masters() {
      const found = await read<{ readonly checks: MasterChecks['checks'] }>(MASTERS_ID);
      return found && { checks: found.source.checks, at: found.at };
    },
    keepMasters: (checks, at) =>
      write(MASTERS_ID, { record_type: 'masters', masters: Object.keys(checks), checks, updated_at: isoTime(clock()) }, at),

    async *all() {
      await storeCall(() => client.indices.refresh({ index }, RETRY));
      let after: string | undefined;
      for (;;) {
        const answer = await storeCall(() =>
          client.search<RingDocument>(
            {
              index,
              size: PAGE,
              query: { bool: { filter: [{ term: { record_type: 'ring' } }] } },
              sort: [{ tenant: 'asc' }],
              seq_no_primary_term: true,
              track_total_hits: false,
              allow_partial_search_results: false,
              ...(after === undefined ? {} : { search_after: [after] }),
            },
            RETRY,
          ),
        );
        const rings = answer.hits.hits.flatMap(({ _source, _seq_no, _primary_term }) =>
          _source === undefined ? [] : [{ ring: ringOf(_source), at: { seq_no: _seq_no ?? 0, primary_term: _primary_term ?? 0 } }],
        );
        if (rings.length > 0) yield rings;
        after = rings.at(-1)?.ring.tenant;
        if (rings.length < PAGE) return;
      }
    },

    async purge() {
      try {
        await client.indices.flush({ index });
        await client.indices.forcemerge({ index, only_expunge_deletes: true });
        await client.indices.flush({ index });
        const stats = await client.indices.stats({ index, metric: 'docs' });
        return stats._all.total?.docs?.deleted === 0;
      } catch {
        return false;
      }
    },
  };
}

function ringOf({ tenant, state, current, keys, destroyed }: RingDocument): KeyRing {
  return { tenant, state, ...(current === undefined ? {} : { current }), keys, destroyed };
}
