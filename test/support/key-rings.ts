/** The keys index in memory, with the same compare-and-set, and master keys to wrap with. */
import type { Clock } from '../../src/domain/clock.ts';
import type { SeqNo } from '../../src/domain/memory.ts';
import { checkValue, masterKeys, type MasterKeys } from '../../src/keys/master.ts';
import type { KeyRing } from '../../src/keys/ring.ts';
import type { MemoryDeps } from '../../src/memory/deps.ts';
import { createKeyAdministration } from '../../src/stores/key-administration.ts';
import type { KeyRings, MasterChecks, StoredRing } from '../../src/stores/key-rings.ts';
import { createTenantKeys } from '../../src/stores/tenant-keys.ts';

/** 32 bytes, all alike. */
export const masterBytes = (fill: number): Buffer => Buffer.alloc(32, fill);
export const mastersOf = (current: number, previous?: number): MasterKeys =>
  masterKeys(masterBytes(current), previous === undefined ? undefined : masterBytes(previous));

export interface MemoryKeyRings extends KeyRings {
  /** Calls of `ring` so far. */
  readonly reads: () => number;
  /** As stored. */
  readonly rings: Map<string, StoredRing>;
}

/** `started`: the master key that the installation was started with already. */
export function memoryKeyRings(started?: MasterKeys): MemoryKeyRings {
  const rings = new Map<string, StoredRing>();
  let masters: MasterChecks | undefined;
  let reads = 0;
  let seq = 0;
  const next = (): SeqNo => ({ seq_no: (seq += 1), primary_term: 1 });
  if (started !== undefined) masters = { checks: { [started.current.id]: checkValue(started.current) }, at: next() };
  const fits = (have: SeqNo | undefined, at: SeqNo | undefined): boolean => have?.seq_no === at?.seq_no;
  // like a store, an answer comes later, and nobody can change what was handed out
  const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(structuredClone(value))));
  return {
    rings,
    reads: () => reads,
    ring(tenant) {
      reads += 1;
      return later(rings.get(tenant));
    },
    keepRing(ring: KeyRing, at) {
      if (!fits(rings.get(ring.tenant)?.at, at)) return later('conflict');
      rings.set(ring.tenant, { ring: structuredClone(ring), at: next() });
      return later('kept');
    },
    masters: () => later(masters),
    keepMasters(checks, at) {
      if (!fits(masters?.at, at)) return later('conflict');
      masters = { checks: structuredClone(checks), at: next() };
      return later('kept');
    },
    async *all() {
      yield await later([...rings.values()]);
    },
    purge: () => later(true),
  };
}

/** What the memory service needs of keys, over rings in memory. */
export function testTenantKeys(clock: Clock): Pick<MemoryDeps, 'tenantKeys' | 'deleteTenantKeys'> {
  const masters = mastersOf(1);
  const rings = memoryKeyRings(masters);
  const tenantKeys = createTenantKeys({ rings, masters, clock });
  return {
    tenantKeys,
    deleteTenantKeys: async (tenant) => {
      const report = await createKeyAdministration({ rings, masters, clock }).deleteTenant(tenant);
      tenantKeys.forget(tenant);
      return report;
    },
  };
}
