/** The tenants' keys over the engine: nothing is sealed, and nothing starts, before MASTER_KEY has shown that it is the right one. */
import type { Clock } from '../domain/clock.ts';
import type { StoreClient } from '../elastic/client.ts';
import type { Keys } from '../gate/keys.ts';
import { masterKeys } from '../keys/master.ts';
import type { MemoryDeps } from '../memory/deps.ts';
import { createKeyAdministration } from '../stores/key-administration.ts';
import { createKeyRings } from '../stores/key-rings.ts';
import { createTenantKeys } from '../stores/tenant-keys.ts';

/** Longer than the engine keeps what was replaced (stores/key-rings). */
const PURGE_AGAIN_MS = 45_000;

/** After the schema is installed. ERR_MASTER_KEY for a key that this installation was not started with; ERR_STORE_*. */
export async function openTenantKeys(
  client: StoreClient,
  prefix: string,
  keys: Keys,
  clock: Clock,
): Promise<Pick<MemoryDeps, 'tenantKeys' | 'deleteTenantKeys'>> {
  const rings = createKeyRings({ client, prefix, clock });
  const masters = masterKeys(keys.deriveKey('seal'), keys.previousSeal);
  const administration = createKeyAdministration({ rings, masters, clock });
  await administration.checkMaster();
  // what a process that ended too early left
  void rings.purge();
  const tenantKeys = createTenantKeys({ rings, masters, clock });
  return {
    tenantKeys,
    async deleteTenantKeys(tenant) {
      const report = await administration.deleteTenant(tenant);
      tenantKeys.forget(tenant);
      if (!report.purged) setTimeout(() => void rings.purge(), PURGE_AGAIN_MS).unref();
      return report;
    },
  };
}
