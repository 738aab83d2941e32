import { expect } from 'chai';
import { checkValue, isCheckOf, mastersInForce } from '../../../src/keys/master.ts';
import { deletedRing, mastersOf as wrappedBy, newRing, openRing, rewrapped, withNewKey } from '../../../src/keys/ring.ts';
import { mastersOf } from '../../support/key-rings.ts';

const NOW = '2026-03-01T12:00:00.000Z';

describe('keys/ring', () => {
  const old = mastersOf(1);
  const both = mastersOf(2, 1);
  const fresh = mastersOf(2);
  const bytesOf = (ring: ReturnType<typeof openRing>): string[] =>
    [...(ring?.byId.values() ?? []), ...(ring?.fingerprint === undefined ? [] : [ring.fingerprint])].map((key) =>
      key.export().toString('hex'),
    );

  it('opens with the master key that wrapped it and with no other', () => {
    const ring = newRing('acme', old, NOW);
    const opened = openRing(ring, old);
    expect(opened?.current?.keyId).to.equal(ring.current);
    expect(new Set(bytesOf(opened)).size, 'a key to seal and one for fingerprints').to.equal(2);
    expect(openRing(ring, fresh)).to.equal(undefined);
    expect(openRing(ring, both)).to.not.equal(undefined);
  });

  it('holds no key in the clear', () => {
    const ring = newRing('acme', old, NOW);
    const stored = JSON.stringify(ring);
    for (const hex of bytesOf(openRing(ring, old))) {
      expect(stored).to.not.contain(hex);
      expect(stored).to.not.contain(Buffer.from(hex, 'hex').toString('base64'));
    }
  });

  it('does not open when a wrapped key is put in the place of another, or another tenant’s in its own', () => {
    const ring = newRing('acme', old, NOW);
    const other = newRing('evil', old, NOW);
    const [seal, fingerprint] = ring.keys;
    if (seal === undefined || fingerprint === undefined) throw new Error('two keys');
    const swapped = [
      { ...seal, wraps: fingerprint.wraps },
      { ...fingerprint, wraps: seal.wraps },
    ];
    expect(openRing({ ...ring, keys: swapped }, old)).to.equal(undefined);
    expect(openRing({ ...other, tenant: 'acme' }, old)).to.equal(undefined);
    expect(openRing({ ...ring, keys: [{ ...seal, key_id: 'k9-000000000000' }, fingerprint] }, old)).to.equal(undefined);
  });

  it('keeps the old keys and the fingerprint key through a rotation', () => {
    const before = newRing('acme', old, NOW);
    const after = withNewKey(before, old, NOW);
    expect(after.current).to.not.equal(before.current);
    const [was, is] = [openRing(before, old), openRing(after, old)];
    expect(is?.fingerprint?.equals(was?.fingerprint as never)).to.equal(true);
    expect([...(is?.byId.keys() ?? [])]).to.deep.equal([before.current, after.current]);
  });

  it('is wrapped by both master keys while one replaces the other, and by the new one alone afterwards', () => {
    const before = newRing('acme', old, NOW);
    const between = rewrapped(before, both, [both.current, both.previous as never], false);
    if (between === undefined) throw new Error('opens');
    expect(new Set(wrappedBy(between))).to.deep.equal(new Set([old.current.id, fresh.current.id]));
    for (const masters of [old, fresh]) expect(bytesOf(openRing(between, masters))).to.deep.equal(bytesOf(openRing(before, old)));
    const after = rewrapped(between, both, [both.current], true);
    if (after === undefined) throw new Error('opens');
    expect(wrappedBy(after)).to.deep.equal([fresh.current.id]);
    expect(openRing(after, old)).to.equal(undefined);
    expect(bytesOf(openRing(after, fresh))).to.deep.equal(bytesOf(openRing(before, old)));
    expect(rewrapped(after, both, [both.current], true), 'nothing left to do').to.equal(after);
    expect(rewrapped(before, fresh, [fresh.current], true), 'without the old one').to.equal(undefined);
  });

  it('has no key after deletion, remembers which there were, and never gives one of their ids again', () => {
    const ring = withNewKey(newRing('acme', old, NOW), old, NOW);
    const gone = deletedRing(ring);
    expect(gone).to.deep.equal({ tenant: 'acme', state: 'deleted', keys: [], destroyed: ring.keys.map((key) => key.key_id) });
    const back = withNewKey(gone, old, NOW);
    expect(back.destroyed).to.deep.equal(gone.destroyed);
    expect(back.keys.filter((key) => gone.destroyed.includes(key.key_id))).to.deep.equal([]);
    expect(back.keys.map((key) => key.purpose)).to.deep.equal(['seal', 'fingerprint']);
  });

  it('a check value tells its own master key from any other', () => {
    const value = checkValue(old.current);
    expect(isCheckOf(old.current, value)).to.equal(true);
    expect(isCheckOf(fresh.current, value)).to.equal(false);
    expect(isCheckOf(old.current, checkValue(fresh.current))).to.equal(false);
    expect(isCheckOf(old.current, 'AAAA')).to.equal(false);
    // another key's value under our id
    expect(mastersInForce(old, { [old.current.id]: checkValue(fresh.current) })).to.equal(undefined);
    expect(mastersInForce(both, { [fresh.current.id]: checkValue(fresh.current) })?.previous).to.equal(undefined);
  });

  it('a previous key that is the current one counts once', () => {
    expect(mastersOf(1, 1).previous).to.equal(undefined);
  });
});
