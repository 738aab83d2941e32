/** Authenticated encryption of short values, AES-256-GCM; keys/ring wraps tenant keys with it, stores/tenant-keys seals values. Pure but for its nonces. */
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

/** What a sealed value belongs to, spelled so that no two lists of parts are the same bytes. */
export function boundTo(...parts: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(parts), 'utf8');
}

/**
 * version (1 byte) | nonce (12) | ciphertext | tag (16). The nonce is random: NIST SP 800-38D (8.3) allows 2^32 of them under one key, and
 * one tenant never seals as often.
 */
export function sealBytes(key: KeyObject, plaintext: Uint8Array, aad: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The plaintext; undefined for another key, other `aad`, or bytes that were changed or are none of ours: which of these nobody learns. */
export function openBytes(key: KeyObject, sealed: Buffer, aad: Uint8Array): Buffer | undefined {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined;
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(1, 1 + NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES, end)), decipher.final()]);
  } catch {
    return undefined;
  }
}
