/** What the recall trace's writer and readers rely on, whoever keeps the records. */
import { expect } from 'chai';
import { RECALL_LIFE_MS, type RecallStore, type StoredRecall } from '../../src/domain/recall.ts';
import { createClient } from '../../src/elastic/client.ts';
import { placementOf } from '../../src/elastic/placement.ts';
import { createRecallStore } from '../../src/stores/recalls.ts';
import { createTestRecallStore } from '../support/recall-store.ts';
import { rejection } from '../support/rejection.ts';
import { openStore, TEST_NOW, type TestStore } from '../support/store.ts';

const time = { nowMs: TEST_NOW };
const clock = (): number => time.nowMs;
const TRACE = 'a'.repeat(32);
let made = 0;

function recall(more: Partial<StoredRecall> = {}): StoredRecall {
  made += 1;
  return {
    recall_id: `recall-${made}`,
    trace_id: TRACE,
    tenant: 'acme',
    owner: 'ann',
    actor: 'user',
    operation: 'memory_search',
    namespaces: ['user.ann'],
    at: new Date(TEST_NOW + made).toISOString(),
    hits: [{ memory_id: `memory-${made}`, score: 0.71, parts: { vector: 0.5, lexical: 0.21 } }],
    sealed: Buffer.from('sealed').toString('base64'),
    key_id: 'k1',
    ...more,
  };
}

function contract(make: () => RecallStore): void {
  let store: RecallStore;
  beforeEach(() => {
    time.nowMs = TEST_NOW + 60_000;
    store = make();
  });

  it('finds the recalls of a trace in their order, as they were given', async () => {
    const tenant = `t${(made += 1)}`;
    const [one, two, other] = [recall({ tenant }), recall({ tenant }), recall({ tenant, trace_id: 'b'.repeat(32) })];
    expect(await store.append(tenant, [two, other, one])).to.equal(0);
    expect(await store.find(tenant, { traceId: TRACE, owner: 'ann' })).to.deep.equal([one, two]);
    expect(await store.find(tenant, { traceId: 'c'.repeat(32), owner: 'ann' })).to.deep.equal([]);
  });

  it('keeps one when a group is sent again', async () => {
    const tenant = `t${(made += 1)}`;
    const one = recall({ tenant });
    await store.append(tenant, [one]);
    expect(await store.append(tenant, [one, recall({ tenant })])).to.equal(0);
    expect(await store.find(tenant, { traceId: TRACE, owner: undefined })).to.have.length(2);
  });

  it('tells of one person, or of everybody in the tenant, and of no other tenant', async () => {
    const [tenant, other] = [`t${(made += 1)}`, `t${(made += 1)}`];
    await store.append(tenant, [recall({ tenant, owner: 'ann' }), recall({ tenant, owner: 'bob' })]);
    await store.append(other, [recall({ tenant: other, owner: 'ann' })]);
    const owners = async (owner: string | undefined) => (await store.find(tenant, { traceId: TRACE, owner })).map((r) => r.owner);
    expect(await owners('bob')).to.deep.equal(['bob']);
    expect(await owners(undefined)).to.have.members(['ann', 'bob']);
    expect(await store.find('nobody', { traceId: TRACE, owner: undefined })).to.deep.equal([]);
  });

  it('shows nothing past its time, and sweeps it away in batches, of any tenant', async () => {
    const [tenant, other] = [`t${(made += 1)}`, `t${(made += 1)}`];
    const old = new Date(time.nowMs - RECALL_LIFE_MS).toISOString();
    const young = new Date(time.nowMs - RECALL_LIFE_MS + 1).toISOString();
    await store.append(tenant, [recall({ tenant, at: old }), recall({ tenant, at: young })]);
    await store.append(other, [recall({ tenant: other, at: old }), recall({ tenant: other, at: old })]);
    const shown = async (name: string) => (await store.find(name, { traceId: TRACE, owner: undefined })).map(({ at }) => at);
    expect(await shown(tenant)).to.deep.equal([young]);
    expect(await shown(other)).to.deep.equal([]);
    expect([await store.sweep(2), await store.sweep(2), await store.sweep(2)]).to.deep.equal([2, 1, 0]);
    expect(await shown(tenant)).to.deep.equal([young]);
  });
}

describe('the recall trace in this process', () => {
  contract(() => createTestRecallStore(clock));
});

describe('stores/recalls', function () {
  this.timeout(60_000);
  let engine: TestStore;
  before(async () => void (engine = await openStore(undefined, clock)));
  after(() => engine.close());
  const real = (): RecallStore => createRecallStore({ client: engine.client, schema: engine.schema, clock });

  contract(real);

  it('stands beside the tenant’s memories and goes with them', async () => {
    const store = real();
    const place = placementOf(engine.prefix, 'leaver');
    await store.append('leaver', [recall({ tenant: 'leaver' })]);
    const names = Object.keys(await engine.client.indices.get({ index: `${place.memory}*` }));
    expect(names).to.include(place.recall);
    await engine.client.indices.delete({ index: names });
    engine.schema.forgetTenant('leaver');
    expect(await store.find('leaver', { traceId: TRACE, owner: undefined })).to.deep.equal([]);
    expect(await store.append('leaver', [recall({ tenant: 'leaver' })])).to.equal(0);
  });

  it('tells how many an index refuses, and throws for one that cannot be reached', async () => {
    const store = real();
    const tenant = 'blocked';
    await store.append(tenant, [recall({ tenant })]);
    const { recall: index } = placementOf(engine.prefix, tenant);
    await engine.client.indices.putSettings({ index, settings: { 'index.blocks.write': true } });
    expect(await store.append(tenant, [recall({ tenant }), recall({ tenant })])).to.equal(2);
    const client = createClient({ url: 'http://127.0.0.1:9' });
    const away = createRecallStore({ client, schema: engine.schema, clock });
    expect((await rejection(away.append(tenant, [recall({ tenant })]))).code).to.equal('ERR_STORE_UNAVAILABLE');
    await client.close();
  });
});
