import { expect } from 'chai';
import { createClient } from '../../src/elastic/client.ts';
import { placementOf } from '../../src/elastic/placement.ts';
import { eventually } from '../support/redis-server.ts';
import { HASH_DIMS, startHashedService, type HashedService } from '../support/service.ts';

const LONG = '第一句话说的是茶叶的产地和季节。'.repeat(100);
const MEMORIES = ['The lighthouse keeper collects barometers.', '安喜欢喝绿茶', LONG, 'Bob repairs clocks.'];

describe('a change of EMBEDDING_MODEL', function () {
  this.timeout(120_000);
  let service: HashedService;
  let token: string;
  let ids: string[];
  const newSpace = `vec_other_words_${HASH_DIMS}`;
  before(async () => {
    service = await startHashedService();
    token = await service.mint();
    const { body } = await service.call('POST', '/v1/memories', token, { items: MEMORIES.map((content) => ({ content })), wait: true });
    ids = body.results.map((result: { memory_id: string }) => result.memory_id);
    expect(body.results.every((result: { settled: boolean }) => result.settled)).to.equal(true);
  });
  after(() => service.close());

  const settled = async (): Promise<boolean> => {
    const views = await Promise.all(ids.map((id) => service.call('GET', `/v1/memories/${id}`, token)));
    return views.every((view) => view.body.settled === true);
  };
  const stored = async (): Promise<Record<string, never>[]> => {
    const client = createClient({ url: service.engineUrl });
    try {
      const { docs } = await client.mget<Record<string, never>>({ index: placementOf(service.prefix, 't1').memory, ids });
      return docs.map((doc) => ('_source' in doc ? (doc._source ?? {}) : {}));
    } finally {
      await client.close();
    }
  };

  it('gives memories that were settled before it vectors of the new model, passages too, by itself and without a new version', async () => {
    const before = await stored();
    await service.restart({ EMBEDDING_MODEL: 'other-words' });
    await eventually(async () => (await stored()).every((record) => newSpace in record), 30_000);
    const after = await stored();
    for (const [i, record] of after.entries()) {
      expect(record['spaces_ready']).to.have.members(['hashed_words_64', 'other_words_64']);
      expect(record).to.deep.include({ version: 1, spaces_due: [], updated_at: before[i]?.['updated_at'] });
      expect(record, 'the former vectors stay: the model can be set back').to.have.property('vec_hashed_words_64');
    }
    const passages = after[2]?.['passages'] as unknown as Record<string, unknown>[];
    expect(passages.length).to.be.greaterThan(2);
    for (const passage of passages) expect(passage[newSpace]).to.have.length(HASH_DIMS);
    expect(await settled()).to.equal(true);
  });

  it('finds them by the new vectors, and says in metrics that nothing is left', async () => {
    await eventually(async () => {
      const { body } = await service.call('POST', '/v1/memories/search', token, { query: 'lighthouse keeper', explain: true });
      const [hit] = body.hits;
      expect(hit.memory_id).to.equal(ids[0]);
      return hit.explain.signals.some((s: { signal: string; raw: number | null }) => s.signal === 'vector' && s.raw !== null);
    });
    await eventually(async () => {
      const { body } = await service.call('GET', '/metrics', token);
      return (
        body.includes('hindsight_reembed_unchecked_records 0') &&
        body.includes('hindsight_embed_queue_records{state="due"} 0') &&
        body.includes('hindsight_embed_dead_letters{reason="rejected"} 0')
      );
    }, 15_000);
  });

  it('costs nothing when the model is set back', async () => {
    service.embeddings.requests.length = 0;
    const positions = (await stored()).map((record) => record['lease_until']);
    await service.restart({ EMBEDDING_MODEL: 'hashed-words' });
    await eventually(async () => /hindsight_reembed_unchecked_records 0/.test((await service.call('GET', '/metrics', token)).body));
    expect(
      service.embeddings.requests.map(({ input }) => input),
      'the probe of the start alone',
    ).to.deep.equal([['ready']]);
    expect((await stored()).map((record) => record['lease_until'])).to.deep.equal(positions);
  });
});

describe('a stop while the embedding endpoint hangs', function () {
  this.timeout(60_000);
  it('takes less than two seconds, costs the record no try, and the next start goes on with it', async () => {
    const service = await startHashedService();
    try {
      const token = await service.mint();
      service.embeddings.fail('hang');
      service.embeddings.requests.length = 0;
      const { body } = await service.call('POST', '/v1/memories', token, { content: 'The night train leaves at ten.' });
      await eventually(async () => service.embeddings.requests.length > 0);
      const begun = performance.now();
      await service.service.close();
      expect(performance.now() - begun).to.be.below(2_000);
      service.embeddings.heal();
      await service.restart();
      const [{ memory_id: id }] = body.results;
      await eventually(async () => (await service.call('GET', `/v1/memories/${id}`, token)).body.settled, 20_000);
    } finally {
      await service.close();
    }
  });
});
