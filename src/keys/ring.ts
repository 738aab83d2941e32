/** A tenant's keys as they are stored: each wrapped by every master key in force, and what became of those that were deleted. Pure but for new keys. */
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { boundTo, openBytes, sealBytes } from './cipher.ts';
import { knownMasters, type MasterKey, type MasterKeys } from './master.ts';

export interface WrappedKey {
  readonly key_id: string;
  readonly purpose: 'seal' | 'fingerprint';
  readonly created_at: string;
  /** base64 by master key id. */
  readonly wraps: Readonly<Record<string, string>>;
}

export interface KeyRing {
  readonly tenant: string;
  /** Deleted: no key is left, and none is made but by a rotation that somebody asks for. */
  readonly state: 'active' | 'deleted';
  /** Seals what is new; absent once deleted. */
  readonly current?: string;
  readonly keys: readonly WrappedKey[];
  /** Ids of deleted keys: what they sealed can never be read, and no key gets such an id again. */
  readonly destroyed: readonly string[];
}

/** Unwrapped; never leaves the process. */
export interface OpenRing {
  readonly current: { readonly keyId: string; readonly key: KeyObject } | undefined;
  readonly byId: ReadonlyMap<string, KeyObject>;
  /** The same through every rotation, so that fingerprints stay comparable. */
  readonly fingerprint: KeyObject | undefined;
  readonly destroyed: ReadonlySet<string>;
}

const KEY_BYTES = 32;

export function newRing(tenant: string, masters: MasterKeys, nowIso: string): KeyRing {
  return withNewKey({ tenant, state: 'active', keys: [], destroyed: [] }, masters, nowIso);
}

/** Another key for what is sealed from now on; the others stay readable. Brings a deleted ring back, with keys that open nothing of before. */
export function withNewKey(ring: KeyRing, masters: MasterKeys, nowIso: string): KeyRing {
  const seal = newKey(ring, 'seal', masters, nowIso);
  const hasFingerprint = ring.keys.some((key) => key.purpose === 'fingerprint');
  const more = hasFingerprint ? [] : [newKey(ring, 'fingerprint', masters, nowIso)];
  return { ...ring, state: 'active', current: seal.key_id, keys: [...ring.keys, seal, ...more] };
}

/** Without any key: crypto-shredding. */
export function deletedRing({ tenant, keys, destroyed }: KeyRing): KeyRing {
  return { tenant, state: 'deleted', keys: [], destroyed: [...destroyed, ...keys.map((key) => key.key_id)] };
}

/** Undefined when a key of it is wrapped by no master key that is known here. */
export function openRing(ring: KeyRing, masters: MasterKeys): OpenRing | undefined {
  const byId = new Map<string, KeyObject>();
  let fingerprint: KeyObject | undefined;
  for (const wrapped of ring.keys) {
    const bytes = unwrap(ring.tenant, wrapped, masters);
    if (bytes === undefined) return undefined;
    const key = createSecretKey(bytes);
    if (wrapped.purpose === 'fingerprint') fingerprint = key;
    else byId.set(wrapped.key_id, key);
  }
  const key = ring.current === undefined ? undefined : byId.get(ring.current);
  const current = ring.current === undefined || key === undefined ? undefined : { keyId: ring.current, key };
  return { current, byId, fingerprint, destroyed: new Set(ring.destroyed) };
}

/**
 * The same keys wrapped by exactly these master keys; the ring itself when nothing changes, undefined when a key cannot be unwrapped.
 * Wraps by other masters are dropped with `exactly`, else kept.
 */
export function rewrapped(ring: KeyRing, masters: MasterKeys, wanted: readonly MasterKey[], exactly: boolean): KeyRing | undefined {
  const ids = wanted.map((master) => master.id);
  const fits = ({ wraps }: WrappedKey): boolean =>
    ids.every((id) => wraps[id] !== undefined) && (!exactly || Object.keys(wraps).length === ids.length);
  if (ring.keys.every(fits)) return ring;
  const keys: WrappedKey[] = [];
  for (const wrapped of ring.keys) {
    const bytes = unwrap(ring.tenant, wrapped, masters);
    if (bytes === undefined) return undefined;
    const made = Object.fromEntries(wanted.map((m) => [m.id, wrapped.wraps[m.id] ?? wrap(ring.tenant, wrapped, bytes, m)]));
    keys.push({ ...wrapped, wraps: exactly ? made : { ...wrapped.wraps, ...made } });
  }
  return { ...ring, keys };
}

/** Ids of the master keys that wrap every key of the ring: any one of them opens it. */
export function mastersOf({ keys }: KeyRing): readonly string[] {
  const [first, ...rest] = keys;
  return Object.keys(first?.wraps ?? {}).filter((id) => rest.every((key) => key.wraps[id] !== undefined));
}

function newKey(ring: KeyRing, purpose: WrappedKey['purpose'], masters: MasterKeys, nowIso: string): WrappedKey {
  const number = ring.keys.length + ring.destroyed.length + (purpose === 'seal' ? 1 : 2);
  // the number is for people; 48 random bits keep two processes and two lives of a tenant apart
  const bare = { key_id: `k${number}-${randomBytes(6).toString('hex')}`, purpose, created_at: nowIso };
  const bytes = randomBytes(KEY_BYTES);
  return { ...bare, wraps: Object.fromEntries(knownMasters(masters).map((m) => [m.id, wrap(ring.tenant, bare, bytes, m)])) };
}

function wrap(tenant: string, key: Pick<WrappedKey, 'key_id' | 'purpose'>, bytes: Uint8Array, master: MasterKey): string {
  return sealBytes(master.key, bytes, wrapBound(tenant, key, master)).toString('base64');
}

function unwrap(tenant: string, wrapped: WrappedKey, masters: MasterKeys): Buffer | undefined {
  for (const master of knownMasters(masters)) {
    const text = wrapped.wraps[master.id];
    const bytes = text === undefined ? undefined : openBytes(master.key, Buffer.from(text, 'base64'), wrapBound(tenant, wrapped, master));
    if (bytes?.length === KEY_BYTES) return bytes;
  }
  return undefined;
}

/** A wrapped key of another tenant, purpose or id put in its place does not open. */
function wrapBound(tenant: string, { key_id, purpose }: Pick<WrappedKey, 'key_id' | 'purpose'>, master: MasterKey): Buffer {
  return boundTo('tenant-key', tenant, key_id, purpose, master.id);
}
