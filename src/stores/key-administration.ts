/** What is done to keys on purpose: the check at start, change of MASTER_KEY, a tenant's rotation and deletion. Compare-and-set throughout, so that any of it can be repeated. */
import { isoTime, type Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import { checkValue, isCheckOf, knownMasters, mastersInForce, type MasterKeys } from '../keys/master.ts';
import { deletedRing, newRing, openRing, rewrapped, withNewKey, type KeyRing } from '../keys/ring.ts';
import type { KeyRings } from './key-rings.ts';

const MAX_CAS_TRIES = 10;

export interface KeyAdministrationOptions {
  readonly rings: KeyRings;
  readonly masters: MasterKeys;
  readonly clock: Clock;
}

export interface RewrapReport {
  readonly tenants: number;
  /** Rings that this run changed; the others were done already. */
  readonly changed: number;
}

export interface KeysStatus {
  readonly tenants: number;
  /** Tenants whose keys were deleted. */
  readonly deleted: number;
  /** Tenants whose keys MASTER_KEY alone does not open: all of them have to be done before MASTER_KEY_PREVIOUS goes. */
  readonly not_yet: number;
}

export interface KeyAdministration {
  /**
   * Before anything is sealed: ERR_MASTER_KEY unless this installation's check value opens with MASTER_KEY, or with MASTER_KEY_PREVIOUS
   * while the key is being changed. The very first start makes the check value.
   */
  checkMaster(): Promise<void>;
  /** Wraps every tenant key with the current and the previous MASTER_KEY; with `finish`, with the current one alone. */
  rotateMaster(finish: boolean): Promise<RewrapReport>;
  /** A new key for what the tenant seals from now on; the id of it. Also how a tenant whose key was deleted starts anew. */
  rotateTenant(tenant: string): Promise<string>;
  status(): Promise<KeysStatus>;
  /** Makes everything sealed for the tenant unreadable for good. `deleted`: how many keys were there. */
  deleteTenant(tenant: string): Promise<{ readonly deleted: number; readonly purged: boolean }>;
}

export function createKeyAdministration({ rings, masters, clock }: KeyAdministrationOptions): KeyAdministration {
  const change = async (tenant: string, next: (ring: KeyRing | undefined) => KeyRing): Promise<KeyRing> => {
    for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
      const found = await rings.ring(tenant);
      const ring = next(found?.ring);
      if (ring === found?.ring || (await rings.keepRing(ring, found?.at)) === 'kept') return ring;
    }
    throw new HindsightError('ERR_VERSION_CONFLICT');
  };

  /** Adds our check values, drops those of `without`. */
  const announce = async (without: readonly string[]): Promise<void> => {
    for (let attempt = 0; attempt < MAX_CAS_TRIES; attempt += 1) {
      const found = await rings.masters();
      refuseStranger(found?.checks, masters);
      const kept = Object.fromEntries(Object.entries(found?.checks ?? {}).filter(([id]) => !without.includes(id)));
      const missing = knownMasters(masters).filter((m) => kept[m.id] === undefined && !without.includes(m.id));
      if (found !== undefined && missing.length === 0 && Object.keys(kept).length === Object.keys(found.checks).length) return;
      const checks = { ...kept, ...Object.fromEntries(missing.map((m) => [m.id, checkValue(m)])) };
      if ((await rings.keepMasters(checks, found?.at)) === 'kept') return;
    }
    throw new HindsightError('ERR_VERSION_CONFLICT');
  };

  const rewrap = async (finish: boolean): Promise<RewrapReport> => {
    const wanted = finish ? [masters.current] : knownMasters(masters);
    let tenants = 0;
    let changed = 0;
    for await (const page of rings.all())
      for (const { ring } of page) {
        tenants += 1;
        let rewritten = false;
        await change(ring.tenant, (now) => {
          const next = rewrapped(now ?? ring, masters, wanted, finish);
          if (next === undefined) throw new HindsightError('ERR_MASTER_KEY', { params: { detail: 'no key was lost; set the right one' } });
          rewritten = next !== now;
          return next;
        });
        if (rewritten) changed += 1;
      }
    return { tenants, changed };
  };

  const checkMaster = async (): Promise<void> => {
    const found = await rings.masters();
    // once the change is finished MASTER_KEY_PREVIOUS has no check value any more: it is not brought back
    if (found?.checks[masters.current.id] === undefined) await announce([]);
    else refuseStranger(found.checks, masters);
  };

  const inForce = async (): Promise<MasterKeys> => {
    await checkMaster();
    return mastersInForce(masters, (await rings.masters())?.checks ?? {}) ?? masters;
  };

  return {
    checkMaster,

    async rotateMaster(finish) {
      const before = masters.previous;
      if (before === undefined)
        throw new HindsightError('ERR_CONFIG_INVALID', {
          params: { detail: 'MASTER_KEY_PREVIOUS must be set to the key in force until now, and MASTER_KEY to the new one' },
        });
      if (!finish) {
        await announce([]);
        return rewrap(false);
      }
      // from here on no process with the old key alone makes a new tenant's key
      await announce([before.id]);
      const report = await rewrap(true);
      await rings.purge();
      return report;
    },

    async rotateTenant(tenant) {
      const by = await inForce();
      const nowIso = isoTime(clock());
      const ring = await change(tenant, (now) => (now === undefined ? newRing(tenant, by, nowIso) : withNewKey(now, by, nowIso)));
      return ring.current ?? '';
    },

    async status() {
      const status = { tenants: 0, deleted: 0, not_yet: 0 };
      for await (const page of rings.all())
        for (const { ring } of page) {
          status.tenants += 1;
          if (ring.state === 'deleted') status.deleted += 1;
          else if (openRing(ring, { current: masters.current, previous: undefined }) === undefined) status.not_yet += 1;
        }
      return status;
    },

    async deleteTenant(tenant) {
      let deleted = 0;
      await change(tenant, (now) => {
        deleted = now?.keys.length ?? 0;
        if (now?.state === 'deleted') return now;
        return deletedRing(now ?? { tenant, state: 'active', keys: [], destroyed: [] });
      });
      return { deleted, purged: await rings.purge() };
    },
  };
}

/** ERR_MASTER_KEY unless one of our master keys made one of the check values, or there are none yet. */
function refuseStranger(checks: Readonly<Record<string, string>> | undefined, masters: MasterKeys): void {
  if (checks === undefined) return;
  const known = knownMasters(masters).some((master) => {
    const value = checks[master.id];
    return value !== undefined && isCheckOf(master, value);
  });
  if (!known)
    throw new HindsightError('ERR_MASTER_KEY', {
      params: { detail: 'set the key that this installation was started with, or, to change it, set that one as MASTER_KEY_PREVIOUS' },
    });
}
