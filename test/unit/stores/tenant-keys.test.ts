import { expect } from 'chai';
import { openValues, sealValues } from '../../../src/keys/sealed-values.ts';
import { createKeyAdministration } from '../../../src/stores/key-administration.ts';
import { createTenantKeys, KEYS_CACHE_MS } from '../../../src/stores/tenant-keys.ts';
import { memoryKeyRings, mastersOf } from '../../support/key-rings.ts';
import { rejection } from '../../support/rejection.ts';

const SECRET = 'hunter2-schlüssel-密码';

describe('stores/tenant-keys', () => {
  let nowMs = 0;
  const clock = (): number => nowMs;
  beforeEach(() => {
    nowMs = Date.parse('2026-03-01T12:00:00.000Z');
  });

  const open = async (masters = mastersOf(1), rings = memoryKeyRings()) => {
    const administration = createKeyAdministration({ rings, masters, clock });
    await administration.checkMaster();
    return { rings, administration, keys: createTenantKeys({ rings, masters, clock }) };
  };
  const codeOf = async (promise: Promise<unknown>): Promise<string> => (await rejection(promise)).code;

  it('opens what it sealed, for the same tenant, memory and key alone', async () => {
    const { keys } = await open();
    const { sealed, keyId } = await keys.seal('acme', SECRET, 'm1/sealed');
    expect(await keys.open('acme', sealed, keyId, 'm1/sealed')).to.equal(SECRET);
    expect(await codeOf(keys.open('acme', sealed, keyId, 'm2/sealed'))).to.equal('ERR_SEAL_BROKEN');
    await keys.seal('evil', 'x', 'm1/sealed');
    expect(await codeOf(keys.open('evil', sealed, keyId, 'm1/sealed'))).to.equal('ERR_SEAL_BROKEN');
    expect(await codeOf(keys.open('acme', sealed, 'k9-000000000000', 'm1/sealed'))).to.equal('ERR_SEAL_BROKEN');
  });

  it('makes no key to open something with', async () => {
    const { keys, rings } = await open();
    expect(await codeOf(keys.open('acme', 'AAAA', 'k1-000000000000', 'm1/sealed'))).to.equal('ERR_SEAL_BROKEN');
    expect(rings.rings.size).to.equal(0);
  });

  it('gives fingerprints that are equal for equal values of one kind in one tenant, and nowhere else', async () => {
    const { keys, rings, administration } = await open();
    const mark = await keys.fingerprint('acme', 'api_key', SECRET);
    expect(mark).to.match(/^[\w-]{43}$/);
    expect(await keys.fingerprint('acme', 'api_key', SECRET)).to.equal(mark);
    expect(await keys.fingerprint('acme', 'password', SECRET)).to.not.equal(mark);
    expect(await keys.fingerprint('acme', 'api_key', `${SECRET}!`)).to.not.equal(mark);
    expect(await keys.fingerprint('evil', 'api_key', SECRET)).to.not.equal(mark);
    await administration.rotateTenant('acme');
    const later = createTenantKeys({ rings, masters: mastersOf(1), clock });
    expect(await later.fingerprint('acme', 'api_key', SECRET)).to.equal(mark);
  });

  it('reads a tenant’s keys once a minute, however many calls there are', async () => {
    const { keys, rings } = await open();
    await keys.seal('acme', SECRET, 'm');
    const after = rings.reads();
    await Promise.all(Array.from({ length: 500 }, () => keys.fingerprint('acme', 'api_key', SECRET)));
    expect(rings.reads()).to.equal(after);
    nowMs += KEYS_CACHE_MS;
    await Promise.all(Array.from({ length: 500 }, () => keys.fingerprint('acme', 'api_key', SECRET)));
    expect(rings.reads()).to.equal(after + 1);
  });

  it('keeps the keys of a thousand tenants at most', async () => {
    const { keys, rings } = await open();
    for (let i = 0; i <= 1_000; i += 1) await keys.fingerprint(`t${i}`, 'k', 'v');
    const after = rings.reads();
    await keys.fingerprint('t1000', 'k', 'v');
    expect(rings.reads(), 'the newest is there').to.equal(after);
    await keys.fingerprint('t0', 'k', 'v');
    expect(rings.reads(), 'the oldest went').to.equal(after + 1);
  });

  it('two processes that make a tenant’s first key at the same time end with one', async () => {
    const { rings } = await open();
    for (let round = 0; round < 50; round += 1) {
      const tenant = `t${round}`;
      const processes = Array.from({ length: 4 }, () => createTenantKeys({ rings, masters: mastersOf(1), clock }));
      const marks = await Promise.all(processes.map((keys) => keys.fingerprint(tenant, 'k', 'v')));
      expect(new Set(marks).size, tenant).to.equal(1);
      const [first, last] = [processes[0], processes[3]];
      const { sealed, keyId } = (await first?.seal(tenant, SECRET, 'm')) ?? { sealed: '', keyId: '' };
      expect(await last?.open(tenant, sealed, keyId, 'm')).to.equal(SECRET);
    }
  });

  it('refuses to start with another MASTER_KEY, in one sentence, and changes nothing', async () => {
    const { rings, keys } = await open();
    const { sealed, keyId } = await keys.seal('acme', SECRET, 'm');
    const before = JSON.stringify([...rings.rings.values()]);
    const wrong = createKeyAdministration({ rings, masters: mastersOf(7), clock });
    const error = await rejection(wrong.checkMaster());
    expect(error.code).to.equal('ERR_MASTER_KEY');
    expect(error.message).to.contain('MASTER_KEY_PREVIOUS').and.not.contain('\n');
    // and if something called it all the same
    const strange = createTenantKeys({ rings, masters: mastersOf(7), clock });
    expect(await codeOf(strange.open('acme', sealed, keyId, 'm'))).to.equal('ERR_KEYS_UNAVAILABLE');
    expect(await codeOf(strange.seal('acme', SECRET, 'm'))).to.equal('ERR_KEYS_UNAVAILABLE');
    expect(await codeOf(strange.seal('newcomer', SECRET, 'm')), 'no silent new key').to.equal('ERR_KEYS_UNAVAILABLE');
    expect(JSON.stringify([...rings.rings.values()])).to.equal(before);
  });

  it('MASTER_KEY is changed while old and new processes work side by side', async () => {
    const { rings, keys: oldProcess } = await open(mastersOf(1));
    const first = await oldProcess.seal('acme', SECRET, 'm');
    const between = await open(mastersOf(2, 1), rings);
    expect(await between.keys.open('acme', first.sealed, first.keyId, 'm')).to.equal(SECRET);
    const made = await between.keys.seal('newcomer', SECRET, 'm');
    expect(await oldProcess.open('newcomer', made.sealed, made.keyId, 'm'), 'old process, key made by the new').to.equal(SECRET);
    const late = await oldProcess.seal('latecomer', SECRET, 'm');
    expect(await between.keys.open('latecomer', late.sealed, late.keyId, 'm')).to.equal(SECRET);

    expect(await between.administration.rotateMaster(false)).to.deep.equal({ tenants: 3, changed: 2 });
    expect(await between.administration.rotateMaster(false), 'again').to.deep.equal({ tenants: 3, changed: 0 });
    expect(await between.administration.rotateMaster(true)).to.deep.equal({ tenants: 3, changed: 3 });
    expect(await between.administration.rotateMaster(true)).to.deep.equal({ tenants: 3, changed: 0 });

    const after = await open(mastersOf(2), rings);
    for (const [tenant, { sealed, keyId }] of [
      ['acme', first],
      ['newcomer', made],
      ['latecomer', late],
    ] as const)
      expect(await after.keys.open(tenant, sealed, keyId, 'm')).to.equal(SECRET);
    // one that was left behind makes no keys any more, and cannot start again
    expect(await codeOf(oldProcess.seal('another', SECRET, 'm'))).to.equal('ERR_KEYS_UNAVAILABLE');
    expect(await codeOf(createKeyAdministration({ rings, masters: mastersOf(1), clock }).checkMaster())).to.equal('ERR_MASTER_KEY');
    // MASTER_KEY_PREVIOUS that somebody forgot to take away wraps nothing
    const forgetful = await open(mastersOf(2, 1), rings);
    await forgetful.keys.seal('yet-another', SECRET, 'm');
    expect(rings.rings.get('yet-another')?.ring.keys.every((key) => Object.keys(key.wraps).length === 1)).to.equal(true);
  });

  it('a change of MASTER_KEY that broke off goes on where it was', async () => {
    const { rings, keys } = await open(mastersOf(1));
    for (let i = 0; i < 10; i += 1) await keys.fingerprint(`t${i}`, 'k', 'v');
    let writes = 0;
    const breaking = {
      ...rings,
      keepRing: (...args: Parameters<typeof rings.keepRing>) => {
        if ((writes += 1) > 4) throw new Error('broke off');
        return rings.keepRing(...args);
      },
    };
    const broken = createKeyAdministration({ rings: breaking, masters: mastersOf(2, 1), clock });
    expect(String(await broken.rotateMaster(true).catch((error: unknown) => error))).to.contain('broke off');
    const again = createKeyAdministration({ rings, masters: mastersOf(2, 1), clock });
    expect(await again.rotateMaster(true)).to.deep.equal({ tenants: 10, changed: 6 });
  });

  it('asks for the key in force until now', async () => {
    const { administration } = await open();
    const error = await rejection(administration.rotateMaster(false));
    expect(error.code).to.equal('ERR_CONFIG_INVALID');
    expect(error.message).to.contain('MASTER_KEY_PREVIOUS');
  });

  it('a rotated tenant seals with the new key, reads both, and other processes find what was sealed meanwhile', async () => {
    const { rings, keys, administration } = await open();
    const other = createTenantKeys({ rings, masters: mastersOf(1), clock });
    const before = await keys.seal('acme', SECRET, 'm');
    expect(await other.open('acme', before.sealed, before.keyId, 'm')).to.equal(SECRET);
    const newId = await administration.rotateTenant('acme');
    keys.forget('acme');
    const after = await keys.seal('acme', SECRET, 'm');
    expect(after.keyId).to.equal(newId).and.not.equal(before.keyId);
    expect(await keys.open('acme', before.sealed, before.keyId, 'm')).to.equal(SECRET);
    nowMs += 1_000;
    expect(await other.open('acme', after.sealed, after.keyId, 'm'), 'long before its minute is over').to.equal(SECRET);
  });

  it('a deleted key makes everything unreadable, here at once and elsewhere within a minute, and is never made anew by itself', async () => {
    const { rings, keys, administration } = await open();
    const other = createTenantKeys({ rings, masters: mastersOf(1), clock });
    const record = { tenant: 'acme', memory_id: 'm1' };
    const sealed = await sealValues(keys, record, [{ field: 'content', kind: 'password', value: SECRET }]);
    expect(await openValues(other, { ...record, ...sealed })).to.deep.equal([{ field: 'content', kind: 'password', value: SECRET }]);
    expect(await administration.deleteTenant('acme')).to.deep.equal({ deleted: 2, purged: true });
    expect(await administration.deleteTenant('acme'), 'again').to.deep.equal({ deleted: 0, purged: true });
    keys.forget('acme');
    nowMs += KEYS_CACHE_MS;
    for (const process of [keys, other]) {
      expect(await codeOf(openValues(process, { ...record, ...sealed }))).to.equal('ERR_KEY_DELETED');
      expect(await codeOf(process.seal('acme', SECRET, 'm'))).to.equal('ERR_KEY_DELETED');
      expect(await codeOf(process.fingerprint('acme', 'k', 'v'))).to.equal('ERR_KEY_DELETED');
    }
    expect(rings.rings.get('acme')?.ring.keys).to.deep.equal([]);
    // somebody asks for a new one: it opens nothing of before
    await administration.rotateTenant('acme');
    keys.forget('acme');
    expect((await keys.seal('acme', SECRET, 'm')).keyId).to.not.equal(sealed.key_id);
    expect(await codeOf(openValues(keys, { ...record, ...sealed }))).to.equal('ERR_KEY_DELETED');
  });

  it('keeps no key that it was reading while this process deleted it', async () => {
    const { keys, rings, administration } = await open();
    await keys.seal('acme', SECRET, 'm');
    nowMs += KEYS_CACHE_MS;
    const ring = rings.ring.bind(rings);
    // the answer of before the deletion arrives after it
    let arrive = (): void => undefined;
    const deletion = new Promise<void>((resolve) => (arrive = resolve));
    rings.ring = async (tenant) => {
      const found = await ring(tenant);
      await deletion;
      return found;
    };
    const early = keys.seal('acme', SECRET, 'm');
    await new Promise((resolve) => setImmediate(resolve));
    rings.ring = ring;
    await administration.deleteTenant('acme');
    keys.forget('acme');
    const asked = keys.seal('acme', SECRET, 'm');
    arrive();
    expect((await early).keyId, 'who asked before').to.be.a('string');
    expect(await codeOf(asked), 'who asks while that is still under way').to.equal('ERR_KEY_DELETED');
    expect(await codeOf(keys.seal('acme', SECRET, 'm')), 'who asks later').to.equal('ERR_KEY_DELETED');
  });

  it('says nothing of which values there are when there are none', async () => {
    const { keys, rings } = await open();
    expect(await sealValues(keys, { tenant: 'acme', memory_id: 'm' }, [])).to.deep.equal({});
    expect(await openValues(keys, { tenant: 'acme', memory_id: 'm' })).to.deep.equal([]);
    expect(rings.rings.size).to.equal(0);
  });
});
