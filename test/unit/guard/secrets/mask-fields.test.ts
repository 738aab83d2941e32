/** Masking of whole items: metadata read with the keys it stands under, numbers in it as what they can be. */
import { expect } from 'chai';
import { join } from 'node:path';
import { maskFields } from '../../../../src/guard/secrets/mask-fields.ts';
import { loadSecretFinder } from '../../../../src/guard/secrets/policy.ts';

const find = loadSecretFinder(join(import.meta.dirname, '..', '..', '..', '..', 'policies', 'guard'));
const metadataOf = (metadata: object): unknown => maskFields(find, { metadata }, 'personal').value.metadata;

describe('guard/secrets/mask-fields', () => {
  it('masks strings and numbers in metadata by the key they stand under, at any depth', () => {
    expect(metadataOf({ pin: 48_213_377, password: { value: 'Zk9!q551xR' }, card: { cvv: '917' }, list: [{ token: 1 }] })).to.deep.equal({
      pin: '[masked:password]',
      password: { value: '[masked:password]' },
      card: { cvv: '[masked:bank_card]' },
      list: [{ token: 1 }],
    });
  });

  it('masks identity and card numbers that JSON has rounded, and keeps no wrong value of them', () => {
    const parsed = JSON.parse('{"id":110105194912310029,"银行卡":6222021234567890123,"row":1234567890123456789}') as object;
    expect(metadataOf(parsed)).to.deep.equal({ id: '[masked:cn_id]', 银行卡: '[masked:bank_card]', row: 1_234_567_890_123_456_800 });
    expect(maskFields(find, { metadata: parsed }, 'personal').found.map(({ kept }) => kept)).to.deep.equal([false, false]);
  });

  it('leaves metadata that is nobody’s as it is', () => {
    const metadata = {
      order_id: '13912345678',
      pages: 2_048,
      timeout_ms: 30_000,
      ratio: 0.25,
      row_id: 13_912_345_678,
      tokens: 128_000,
      back: -1,
    };
    expect(metadataOf(metadata)).to.equal(metadata);
  });
});
