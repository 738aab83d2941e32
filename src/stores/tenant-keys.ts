/** TenantKeys over the keys index: what masking and sealing call on every write, so unwrapped keys stay in the process for a minute. */
import { createHmac } from 'node:crypto';
import { isoTime, type Clock } from '../domain/clock.ts';
import type { TenantKeys } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { boundTo, openBytes, sealBytes } from '../keys/cipher.ts';
import { mastersInForce, type MasterKeys } from '../keys/master.ts';
import { newRing, openRing, type OpenRing } from '../keys/ring.ts';
import type { KeyRings } from './key-rings.ts';

export interface TenantKeysOptions {
  readonly rings: KeyRings;
  readonly masters: MasterKeys;
  readonly clock: Clock;
}

/** A rotation or deletion by another process is noticed after this long at the latest. */
export const KEYS_CACHE_MS = 60_000;
const TENANTS_KEPT = 1_000;
/** How often a key id that is not in the cached ring is looked for in the store. */
const LOOK_AGAIN_MS = 1_000;

interface Cached {
  readonly ring: OpenRing;
  readonly readAt: number;
}

export interface CachedTenantKeys extends TenantKeys {
  /** The tenant's keys were changed by this process: they are read anew. */
  forget(tenant: string): void;
}

/** Errors: as the port says. A key is made by the first seal or fingerprint of a tenant, never by opening. */
export function createTenantKeys({ rings, masters, clock }: TenantKeysOptions): CachedTenantKeys {
  const cache = new Map<string, Cached>();
  const loading = new Map<string, Promise<OpenRing | undefined>>();
  let forgotten = 0;

  const keep = (tenant: string, ring: OpenRing): OpenRing => {
    cache.delete(tenant);
    const [oldest] = cache.keys();
    if (cache.size >= TENANTS_KEPT && oldest !== undefined) cache.delete(oldest);
    cache.set(tenant, { ring, readAt: clock() });
    return ring;
  };

  /** Undefined when the tenant has none and none is to be made. */
  const load = async (tenant: string, make: boolean): Promise<OpenRing | undefined> => {
    const before = forgotten;
    let stored = (await rings.ring(tenant))?.ring;
    if (stored === undefined) {
      if (!make) return undefined;
      const fresh = newRing(tenant, await inForce(), isoTime(clock()));
      // of all who make one, the first wins, and the others take his
      stored = (await rings.keepRing(fresh, undefined)) === 'kept' ? fresh : (await rings.ring(tenant))?.ring;
    }
    const opened = stored === undefined ? undefined : openRing(stored, masters);
    if (opened === undefined)
      throw new HindsightError('ERR_KEYS_UNAVAILABLE', { cause: new Error('no master key at hand opens the ring') });
    // read before a change that this process made since: good for who asked then, not for a minute
    return forgotten === before ? keep(tenant, opened) : opened;
  };

  /** A process that was started before a change of MASTER_KEY was finished must not wrap a new tenant's key with the old one. */
  const inForce = async (): Promise<MasterKeys> => {
    const known = mastersInForce(masters, (await rings.masters())?.checks ?? {});
    if (known === undefined)
      throw new HindsightError('ERR_KEYS_UNAVAILABLE', { cause: new Error('MASTER_KEY is no longer the one in force') });
    return known;
  };

  const ringOf = (tenant: string, make: boolean, olderThanMs = KEYS_CACHE_MS): OpenRing | Promise<OpenRing | undefined> => {
    const known = cache.get(tenant);
    if (known !== undefined && clock() - known.readAt < olderThanMs) return known.ring;
    const name = loadName(tenant, make);
    const running = loading.get(name);
    if (running !== undefined) return running;
    const started = load(tenant, make).finally(() => {
      if (loading.get(name) === started) loading.delete(name);
    });
    loading.set(name, started);
    return started;
  };

  const usable = async <T>(tenant: string, pick: (ring: OpenRing) => T | undefined): Promise<T> => {
    const ring = ringOf(tenant, true);
    const found = ring instanceof Promise ? await ring : ring;
    const picked = found === undefined ? undefined : pick(found);
    if (picked === undefined) throw new HindsightError('ERR_KEY_DELETED');
    return picked;
  };

  return {
    async seal(tenant, plaintext, aad) {
      const { key, keyId } = await usable(tenant, (ring) => ring.current);
      const sealed = sealBytes(key, Buffer.from(plaintext, 'utf8'), sealBound(tenant, keyId, aad));
      return { sealed: sealed.toString('base64'), keyId };
    },

    async open(tenant, sealed, keyId, aad) {
      let ring = await ringOf(tenant, false);
      // sealed by another process since this one read the ring
      if (ring !== undefined && !ring.byId.has(keyId) && !ring.destroyed.has(keyId)) ring = await ringOf(tenant, false, LOOK_AGAIN_MS);
      if (ring?.destroyed.has(keyId) === true) throw new HindsightError('ERR_KEY_DELETED');
      const key = ring?.byId.get(keyId);
      const bytes = key && openBytes(key, Buffer.from(sealed, 'base64'), sealBound(tenant, keyId, aad));
      if (bytes === undefined) throw new HindsightError('ERR_SEAL_BROKEN');
      return bytes.toString('utf8');
    },

    async fingerprint(tenant, kind, value) {
      const key = await usable(tenant, (ring) => ring.fingerprint);
      return createHmac('sha256', key).update(boundTo(kind, value)).digest('base64url');
    },

    forget: (tenant) => {
      forgotten += 1;
      cache.delete(tenant);
      for (const make of [true, false]) loading.delete(loadName(tenant, make));
    },
  };
}

const loadName = (tenant: string, make: boolean): string => `${String(make)} ${tenant}`;

/** A value moved to another tenant or memory, or under another key's name, does not open. */
export function sealBound(tenant: string, keyId: string, aad: string): Buffer {
  return boundTo('seal', tenant, keyId, aad);
}
