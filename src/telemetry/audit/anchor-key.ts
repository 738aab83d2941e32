/** The key that signs anchors: Ed25519 (RFC 8032) made from the service's secret, the same in every replica and after every start. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

export interface AnchorKey {
  /** Beginning of the SHA-256 of the public key: tells which secret signed. */
  readonly keyId: string;
  /** Signature of a hash, base64url. */
  sign(hash: string): string;
  verifies(hash: string, signature: string): boolean;
  /** Keys of former secrets; they are asked what they signed, and sign nothing. */
  readonly former: readonly Pick<AnchorKey, 'keyId' | 'verifies'>[];
}

/** PKCS #8 (RFC 8410, section 7) up to the 32 bytes of the seed. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Seeds: 32 bytes each. */
export function anchorKey(seed: Uint8Array, formerSeeds: readonly Uint8Array[] = []): AnchorKey {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  const known = createPublicKey(secret);
  const keyId = createHash('sha256')
    .update(known.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 16);
  return {
    keyId,
    sign: (hash) => sign(null, Buffer.from(hash), secret).toString('base64url'),
    verifies: (hash, signature) => verify(null, Buffer.from(hash), known, Buffer.from(signature, 'base64url')),
    former: formerSeeds.map((one) => anchorKey(one)),
  };
}
