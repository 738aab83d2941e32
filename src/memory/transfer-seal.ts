/** Signatures of export files: one a line, which carries its trust, and one over the whole, which shows that nothing is missing. Pure. */
import { timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { Manifest, TransferItem } from '../domain/wire/transfer.ts';
import { keyedHash } from './signed.ts';

const KEY_ID_CHARS = 16;

/** Names the key without telling anything about it. */
export function keyIdOf(key: Uint8Array): string {
  return keyedHash(key, ['export-key-id']).slice(0, KEY_ID_CHARS);
}

/** Bound to tenant and export, so that a line of another tenant's file, or of an older export, is not one of this. */
export function lineSignature(item: TransferItem, exportId: string, tenant: string, key: Uint8Array): string {
  const { sig: _sig, ...rest } = item;
  return keyedHash(key, ['export-line', tenant, exportId, canonicalJson(rest)]);
}

export function isLineOurs(item: TransferItem, exportId: string, tenant: string, key: Uint8Array): boolean {
  return item.sig !== undefined && same(item.sig, lineSignature(item, exportId, tenant, key));
}

export function signManifest(facts: Omit<Manifest, 'signature' | 'key_id'>, key: Uint8Array): Manifest {
  const unsigned = { ...facts, key_id: keyIdOf(key) };
  return { ...unsigned, signature: keyedHash(key, ['export-manifest', canonicalJson(unsigned)]) };
}

/** Made with this key, for this tenant, and not changed since. */
export function isManifestOurs(manifest: Manifest, tenant: string, key: Uint8Array): boolean {
  const { signature, ...unsigned } = manifest;
  return manifest.tenant === tenant && same(signature, keyedHash(key, ['export-manifest', canonicalJson(unsigned)]));
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
