/** The keys that wrap tenant keys, made from MASTER_KEY and, while it is changed, from the one before; and the check value that tells a wrong one. Pure. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { boundTo, openBytes, sealBytes } from './cipher.ts';

export interface MasterKey {
  /** Names the key and tells nothing about it. */
  readonly id: string;
  readonly key: KeyObject;
}

export interface MasterKeys {
  /** Wraps everything new. */
  readonly current: MasterKey;
  /** Opens, and wraps too, until every process and every tenant key has the current one. */
  readonly previous: MasterKey | undefined;
}

const ID_CHARS = 16;
const CHECK_TEXT = 'hindsight-es master key check';

/** From 32-byte wrapping keys (gate/keys derives them from MASTER_KEY and MASTER_KEY_PREVIOUS). The same key twice counts once. */
export function masterKeys(current: Uint8Array, previous?: Uint8Array): MasterKeys {
  const now = masterKey(current);
  const before = previous === undefined ? undefined : masterKey(previous);
  return { current: now, previous: before?.id === now.id ? undefined : before };
}

function masterKey(bytes: Uint8Array): MasterKey {
  const id = createHmac('sha256', bytes).update('master-key-id').digest('hex').slice(0, ID_CHARS);
  return { id, key: createSecretKey(bytes) };
}

/** Current first. */
export function knownMasters({ current, previous }: MasterKeys): readonly MasterKey[] {
  return previous === undefined ? [current] : [current, previous];
}

/** A value that only this master key can have made. */
export function checkValue({ id, key }: MasterKey): string {
  return sealBytes(key, Buffer.from(CHECK_TEXT), boundTo('master-check', id)).toString('base64');
}

export function isCheckOf({ id, key }: MasterKey, value: string): boolean {
  return openBytes(key, Buffer.from(value, 'base64'), boundTo('master-check', id))?.toString() === CHECK_TEXT;
}

/** Those of our master keys that stand in the installation's check values; undefined when the current one does not. */
export function mastersInForce(masters: MasterKeys, checks: Readonly<Record<string, string>>): MasterKeys | undefined {
  const stands = (master: MasterKey): boolean => {
    const value = checks[master.id];
    return value !== undefined && isCheckOf(master, value);
  };
  if (!stands(masters.current)) return undefined;
  return { current: masters.current, previous: masters.previous !== undefined && stands(masters.previous) ? masters.previous : undefined };
}
