import { createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { boundTo, openBytes, sealBytes } from '../../../src/keys/cipher.ts';

describe('keys/cipher', () => {
  const key = createSecretKey(randomBytes(32));
  const aad = boundTo('seal', 'acme', 'k1', 'memory');

  it('gives back what was sealed, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        expect(openBytes(key, sealBytes(key, bytes, aad), aad)).to.deep.equal(Buffer.from(bytes));
      }),
    );
  });

  it('seals the same text differently every time, with a nonce of 96 random bits', () => {
    const nonces = new Set(Array.from({ length: 2_000 }, () => sealBytes(key, Buffer.from('x'), aad).toString('hex', 1, 13)));
    expect(nonces.size).to.equal(2_000);
  });

  it('is AES-256-GCM, so that other tools can open it', () => {
    const sealed = sealBytes(key, Buffer.from('hunter2'), aad);
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13));
    decipher.setAAD(aad);
    decipher.setAuthTag(sealed.subarray(-16));
    expect(Buffer.concat([decipher.update(sealed.subarray(13, -16)), decipher.final()]).toString()).to.equal('hunter2');
  });

  it('opens nothing after any one bit was changed', () => {
    const sealed = sealBytes(key, Buffer.from('hunter2'), aad);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(openBytes(key, changed, aad), `bit ${bit}`).to.equal(undefined);
    }
  });

  it('opens nothing with another key, other bindings, or a part of it', () => {
    const sealed = sealBytes(key, Buffer.from('hunter2'), aad);
    expect(openBytes(createSecretKey(randomBytes(32)), sealed, aad)).to.equal(undefined);
    for (const other of [boundTo('seal', 'acme', 'k1'), boundTo('seal', 'evil', 'k1', 'memory'), boundTo('seal', 'acme', 'k2', 'memory')])
      expect(openBytes(key, sealed, other)).to.equal(undefined);
    for (let end = 0; end < sealed.length; end += 1) expect(openBytes(key, sealed.subarray(0, end), aad)).to.equal(undefined);
  });

  it('spells no two lists of parts alike', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        expect(boundTo(...a).equals(boundTo(...b))).to.equal(a.length === b.length && a.every((part, i) => part === b[i]));
      }),
    );
    expect(boundTo('a', 'bc').equals(boundTo('ab', 'c'))).to.equal(false);
  });
});
