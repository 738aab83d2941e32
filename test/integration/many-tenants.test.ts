/** The jobs' questions over all tenants, with more of them than one page of an aggregation names. */
import { expect } from 'chai';
import { admit } from '../../src/domain/sealed.ts';
import { bulk } from '../../src/elastic/bulk.ts';
import { placementOf } from '../../src/elastic/placement.ts';
import { createEmbedQueue } from '../../src/stores/embed-queue.ts';
import { createReembedQueue } from '../../src/stores/reembed-queue.ts';
import { createRescanQueue } from '../../src/stores/rescan-queue.ts';
import { memoryRecord } from '../support/records.ts';
import { openStore, TEST_NOW, type TestStore } from '../support/store.ts';

const TENANTS = 1_100;
const SPACES = ['zh', 'en'];

describe('queues over 1,100 tenants', function () {
  this.timeout(120_000);
  let store: TestStore;
  const clock = (): number => TEST_NOW;
  const nameOf = (i: number): string => `tenant-${String(i).padStart(4, '0')}`;
  const all = Array.from({ length: TENANTS }, (_, i) => nameOf(i));

  before(async () => {
    store = await openStore(undefined, clock);
    const [home = ''] = all;
    // the first through the index, which makes it; the others beside it, because an index each would take minutes
    await store.index.createMany([memoryRecord({ tenant: home, spaces_due: ['zh'] })].map(admit));
    const lines = all.slice(1).flatMap((tenant, i) => {
      const record = memoryRecord({ tenant, spaces_due: ['zh'] });
      const twice = i === 600 ? [record, memoryRecord({ tenant, spaces_due: ['zh'] })] : [record];
      return twice.map((r) => `${JSON.stringify({ create: { _id: r.memory_id } })}\n${JSON.stringify(r)}\n`);
    });
    const items = await bulk(store.client, placementOf(store.prefix, home).memory, lines, { requireAlias: true });
    expect(items.filter(({ status }) => status !== 201)).to.deep.equal([]);
    await store.index.refresh(home);
  });
  after(() => store.close());

  const expectAll = (found: readonly { readonly tenant: string; readonly count: number }[]): void => {
    expect(found.map(({ tenant }) => tenant).sort()).to.deep.equal(all);
    expect(found[0], 'most first').to.include({ tenant: nameOf(601), count: 2 });
    expect(found[1]?.count).to.equal(1);
  };

  it('the embed queue names all of them', async () => {
    expectAll(await createEmbedQueue({ client: store.client, prefix: store.prefix, clock, spaces: () => SPACES }).dueTenants());
  });

  it('the reembed queue names all of them', async () => {
    expectAll(await createReembedQueue({ client: store.client, prefix: store.prefix, clock, spaces: () => SPACES }).tenants());
  });

  it('the rescan queue names all of them', async () => {
    const queue = createRescanQueue({ client: store.client, prefix: store.prefix, clock });
    expectAll(await queue.judgedBefore('another-revision'));
    expect([...(await queue.withRecords())].sort()).to.deep.equal(all);
  });
});
