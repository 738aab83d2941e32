/** Vector near-duplicates with everything real: Elasticsearch's knn, the local models, the embed job in its worker. */
import { expect } from 'chai';
import type { WriteInput } from '../../src/domain/wire/write.ts';
import { eventually, openMemoryService, type MemoryService } from '../support/memory-service.ts';
import { principal } from '../support/principals.ts';

/** Of so few common words that the write does not compare them; only their meaning brings them together. */
const SAME = [
  ['I am allergic to cashews.', 'I have an allergy to cashews.'],
  ['我会说法语。', '用户会讲法语。'],
] as const;
const OTHER = ['I am allergic to pistachios.', '我会说德语。'];

describe('near-duplicates by meaning, on a real engine with the local models', function () {
  this.timeout(300_000);
  let service: MemoryService;
  before(async () => {
    service = await openMemoryService();
  });
  after(() => service.close());

  const write = async (item: WriteInput, by = principal()): Promise<string> => {
    const [result] = (await service.memory.write({ kind: 'fact', ...item }, service.call(by))).results;
    if (result?.memory_id === undefined || result.memory_id === null) throw new Error(`not stored: ${JSON.stringify(result)}`);
    return result.memory_id;
  };
  const view = (id: string, by = principal()) => service.memory.get({ memory_id: id }, service.call(by));
  /** Written, and compared by its vector: settled comes after that. */
  const settled = async (item: WriteInput, by = principal()): Promise<string> => {
    const id = await write(item, by);
    await eventually(
      () => view(id, by),
      ({ settled: done }) => done,
      120_000,
    );
    return id;
  };

  it('merges what says the same in other words into the older memory, and nothing else', async () => {
    for (const [first, second] of SAME) {
      const older = await settled({ content: first });
      const others = [];
      for (const content of OTHER) others.push(await settled({ content, admission: 'keep' }));
      const newer = await settled({ content: second });
      expect(newer, 'its words did not bring them together').to.not.equal(older);
      expect(await view(newer), second).to.include({ status: 'superseded', superseded_by: older });
      for (const id of [older, ...others]) expect(await view(id), id).to.include({ status: 'active' });
    }
  });

  it('brings no private memories of two owners together in a namespace that both write to', async () => {
    const [ann, bob] = [principal({ namespaces: ['**'] }), principal({ sub: 'bob', namespaces: ['**'] })];
    const place = { namespace: 'team.kitchen', visibility: 'private' } as const;
    const [first, second] = SAME[0];
    const older = await settled({ content: first, ...place }, ann);
    const newer = await settled({ content: second, ...place }, bob);
    expect([(await view(older, ann)).status, (await view(newer, bob)).status]).to.deep.equal(['active', 'active']);
  });
});
