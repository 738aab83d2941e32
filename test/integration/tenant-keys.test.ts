/** Keys on the real engine: several processes (each with its own client and cache), races, a change of MASTER_KEY under way, deletion, resealing. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { systemClock } from '../../src/domain/clock.ts';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import { admit } from '../../src/domain/sealed.ts';
import { createClient, type StoreClient } from '../../src/elastic/client.ts';
import { globalIndex, placementOf } from '../../src/elastic/placement.ts';
import type { MasterKeys } from '../../src/keys/master.ts';
import { openValues, sealValues } from '../../src/keys/sealed-values.ts';
import { createKeyAdministration } from '../../src/stores/key-administration.ts';
import { createKeyRings } from '../../src/stores/key-rings.ts';
import { reseal } from '../../src/stores/reseal.ts';
import { createTenantKeys, KEYS_CACHE_MS } from '../../src/stores/tenant-keys.ts';
import { mastersOf } from '../support/key-rings.ts';
import { memoryRecord } from '../support/records.ts';
import { rejection } from '../support/rejection.ts';
import { openStore, type TestStore } from '../support/store.ts';

const SECRET = 'hunter2-schlüssel-密码';

describe('keys on the engine', function () {
  this.timeout(180_000);
  let store: TestStore;
  const clients: StoreClient[] = [];
  before(async () => {
    store = await openStore();
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await store.close();
  });

  const start = (masters: MasterKeys, clock = systemClock) => {
    const client = createClient({ url: store.url });
    clients.push(client);
    const rings = createKeyRings({ client, prefix: store.prefix, clock });
    return {
      client,
      rings,
      administration: createKeyAdministration({ rings, masters, clock }),
      keys: createTenantKeys({ rings, masters, clock }),
    };
  };

  it('two processes that start at the same time agree on the check value, and a third with another MASTER_KEY does not start', async () => {
    const [a, b] = [start(mastersOf(1)), start(mastersOf(1))];
    await Promise.all([a.administration.checkMaster(), b.administration.checkMaster()]);
    expect((await rejection(start(mastersOf(9)).administration.checkMaster())).code).to.equal('ERR_MASTER_KEY');
    expect(Object.keys((await a.rings.masters())?.checks ?? {})).to.deep.equal([mastersOf(1).current.id]);
  });

  it('fifty tenants whose first key two processes make at once have one key each', async () => {
    const [a, b] = [start(mastersOf(1)), start(mastersOf(1))];
    for (let round = 0; round < 50; round += 1) {
      const tenant = `race${round}`;
      const [x, y] = await Promise.all([a.keys.seal(tenant, SECRET, 'm'), b.keys.seal(tenant, SECRET, 'm')]);
      expect(x.keyId, tenant).to.equal(y.keyId);
      expect(await b.keys.open(tenant, x.sealed, x.keyId, 'm')).to.equal(SECRET);
      expect(await a.keys.open(tenant, y.sealed, y.keyId, 'm')).to.equal(SECRET);
      expect(await a.keys.fingerprint(tenant, 'k', SECRET)).to.equal(await b.keys.fingerprint(tenant, 'k', SECRET));
    }
  });

  it('neither the key nor what it seals stands in the index', async () => {
    const { keys, client } = start(mastersOf(1));
    await keys.seal('race0', SECRET, 'm');
    await client.indices.refresh({ index: globalIndex(store.prefix, 'keys') });
    const all = await client.search({ index: globalIndex(store.prefix, 'keys'), size: 1_000 });
    expect(JSON.stringify(all.hits.hits)).to.not.contain(SECRET);
    // no pattern that takes memories along takes the keys along
    const taken = Object.keys(await client.indices.get({ index: `${store.prefix}-mem-*`, allow_no_indices: true }));
    expect(taken).to.not.include(globalIndex(store.prefix, 'keys'));
  });

  it('MASTER_KEY is changed while both old and new processes seal and open', async () => {
    const old = start(mastersOf(1));
    const fresh = start(mastersOf(2, 1));
    await fresh.administration.checkMaster();
    let stop = false;
    let done = 0;
    const sealed: { tenant: string; value: Awaited<ReturnType<typeof old.keys.seal>> }[] = [];
    const traffic = async (who: typeof old, other: typeof old, name: string): Promise<void> => {
      for (let i = 0; !stop; i += 1) {
        const tenant = `${name}${i}`;
        const value = await who.keys.seal(tenant, SECRET, 'm');
        expect(await other.keys.open(tenant, value.sealed, value.keyId, 'm')).to.equal(SECRET);
        sealed.push({ tenant, value });
        done += 1;
      }
    };
    const running = [traffic(old, fresh, 'old'), traffic(fresh, old, 'fresh')];
    try {
      expect((await fresh.administration.rotateMaster(false)).changed).to.be.at.least(50);
    } finally {
      stop = true;
    }
    await Promise.all(running);
    expect(done).to.be.at.least(2);
    // everybody runs with the new key: the old one goes
    await fresh.administration.rotateMaster(true);
    expect((await fresh.administration.rotateMaster(true)).changed).to.equal(0);
    const after = start(mastersOf(2));
    await after.administration.checkMaster();
    expect((await after.administration.status()).not_yet).to.equal(0);
    for (const { tenant, value } of sealed) expect(await after.keys.open(tenant, value.sealed, value.keyId, 'm')).to.equal(SECRET);
    expect((await rejection(start(mastersOf(1)).administration.checkMaster())).code).to.equal('ERR_MASTER_KEY');
  });

  it('reseals heads and copies with the new key, then the old one is needed no more; forgetting takes copies’ values away', async () => {
    const { keys, administration, client } = start(mastersOf(2));
    const place = { tenant: 'reseal', memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' };
    const values = [{ field: 'content', kind: 'password', value: SECRET }];
    const record = memoryRecord({ ...place, ...(await sealValues(keys, place, values)) });
    await store.index.create(admit(record));
    await store.index.saveVersion(admit({ ...record, version: 1 }));
    await store.index.saveVersion(admit({ ...record, version: 2 }));
    const current = await administration.rotateTenant('reseal');
    keys.forget('reseal');
    const options = { client, prefix: store.prefix, keys };
    expect(await reseal(options, 'reseal', current)).to.deep.equal({ resealed: 3, moved: 0, unreadable: 0 });
    expect(await reseal(options, 'reseal', current)).to.deep.equal({ resealed: 0, moved: 0, unreadable: 0 });
    const { memory, versions } = placementOf(store.prefix, 'reseal');
    const read = async (index: string, id: string): Promise<MemoryRecord> =>
      (await client.get<MemoryRecord>({ index, id }))._source as MemoryRecord;
    for (const [index, id] of [
      [memory, place.memory_id],
      [versions, `${place.memory_id}@1`],
      [versions, `${place.memory_id}@2`],
    ] as const) {
      const now = await read(index, id);
      expect(now.key_id).to.equal(current);
      expect(await openValues(keys, now)).to.deep.equal(values);
    }
    await store.index.dropSealedCopies('reseal', [place.memory_id]);
    for (const version of [1, 2]) {
      const copy = await read(versions, `${place.memory_id}@${version}`);
      expect(copy.sealed, 'nothing left to open').to.equal(null);
      expect(await openValues(keys, copy)).to.deep.equal([]);
    }
    expect(await openValues(keys, await read(memory, place.memory_id)), 'the head is another’s business').to.deep.equal(values);
    await store.index.dropSealedCopies('nobody', [place.memory_id]);
  });

  it('a deleted key is gone from the index’s files, and other processes notice within a minute', async () => {
    let nowMs = systemClock();
    const here = start(mastersOf(2));
    const there = start(mastersOf(2), () => nowMs);
    const { sealed, keyId } = await here.keys.seal('leaver', SECRET, 'm');
    expect(await there.keys.open('leaver', sealed, keyId, 'm')).to.equal(SECRET);
    expect((await here.administration.deleteTenant('leaver')).deleted).to.equal(2);
    here.keys.forget('leaver');
    expect((await rejection(here.keys.open('leaver', sealed, keyId, 'm'))).code).to.equal('ERR_KEY_DELETED');
    nowMs += KEYS_CACHE_MS;
    expect((await rejection(there.keys.open('leaver', sealed, keyId, 'm'))).code).to.equal('ERR_KEY_DELETED');
    expect((await rejection(there.keys.seal('leaver', SECRET, 'm'))).code).to.equal('ERR_KEY_DELETED');
    // the engine holds on to what was replaced for its retention lease
    const deadline = systemClock() + 120_000;
    while (!(await here.rings.purge())) {
      expect(systemClock()).to.be.below(deadline);
      await pause(2_000);
    }
    const index = globalIndex(store.prefix, 'keys');
    const stats = await here.client.indices.stats({ index, metric: 'docs' });
    expect(stats.indices?.[index]?.total?.docs?.deleted).to.equal(0);
    expect(await here.administration.status()).to.include({ deleted: 1 });
  });
});
