/** The recall trace on the running service: what is kept, where, for whom, and what becomes of it when the service stops or cannot write it. */
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { systemClock } from '../../src/domain/clock.ts';
import { createClient } from '../../src/elastic/client.ts';
import { placementOf } from '../../src/elastic/placement.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const SECRET = 'xylograph';
const SCOPES = ['memory:read', 'memory:write'];

describe('the recall trace of the service', function () {
  this.timeout(120_000);
  const time = { aheadMs: 0 };
  const log: string[] = [];
  let service: HashedService;
  let client: Client;
  let alice: string;

  before(async () => {
    service = await startHashedService({ LOG_LEVEL: 'info' }, () => systemClock() + time.aheadMs, log);
    client = createClient({ url: service.engineUrl });
    alice = await service.mint({ scopes: SCOPES });
    await service.call('POST', '/v1/memories', alice, { content: `The ${SECRET} stands in the hall.`, wait: true });
  });
  after(async () => {
    await client.close();
    await service.close();
  });

  const search = async (query = `where is the ${SECRET}?`, token = alice): Promise<Answer['body']> =>
    (await service.call('POST', '/v1/memories/search', token, { query })).body;
  const trace = (id: string, token = alice): Promise<Answer> => service.call('GET', `/v1/recalls/${id}`, token);
  const indexOf = (tenant: string): string => placementOf(service.prefix, tenant).recall;
  const stored = async (tenant = 't1'): Promise<object[]> => {
    await client.indices.refresh({ index: indexOf(tenant) });
    return (await client.search<object>({ index: indexOf(tenant), size: 1_000 })).hits.hits.flatMap(({ _source }) => _source ?? []);
  };

  it('is there as soon as the search was answered', async () => {
    const answer = await search();
    const { status, body } = await trace(answer.trace_id);
    expect(status).to.equal(200);
    expect(body.recalls).to.have.length(1);
    const [recall] = body.recalls;
    expect(recall).to.include({ operation: 'memory_search', actor: 'user', query: `where is the ${SECRET}?`, query_state: 'open' });
    expect(recall.hits.map((hit: { memory_id: string; score: number }) => [hit.memory_id, hit.score])).to.deep.equal(
      answer.hits.map((hit: { memory_id: string; score: number }) => [hit.memory_id, hit.score]),
    );
  });

  it('holds no query and no content in the clear', async () => {
    await trace((await search()).trace_id);
    const documents = await stored();
    expect(documents.length).to.be.above(0);
    expect(JSON.stringify(documents)).not.to.match(/xylograph|hall|where is/);
    expect(JSON.stringify(log)).not.to.match(/xylograph|where is/);
  });

  it('keeps tenants apart: each has an index of its own, and a namesake elsewhere finds nothing', async () => {
    const { trace_id: id } = await search();
    const everywhere = ['memory:read', 'memory:audit', 'memory:reveal'];
    expect((await trace(id, await service.mint({ tenant: 't2', scopes: everywhere }))).status).to.equal(404);
    expect((await trace(id, await service.mint({ sub: 'bob', scopes: SCOPES }))).status).to.equal(404);
    const auditor = await trace(id, await service.mint({ sub: 'bob', scopes: everywhere }));
    expect(auditor.body.recalls[0]).to.include({ query_state: 'open' });
    const other = await service.mint({ tenant: 't2', scopes: SCOPES });
    await trace((await search('what about t2?', other)).trace_id, other);
    expect((await stored('t2')).map((document) => (document as { tenant: string }).tenant)).to.deep.equal(['t2']);
    expect((await stored('t1')).every((document) => (document as { tenant: string }).tenant === 't1')).to.equal(true);
  });

  it('answers absent and foreign traces alike', async () => {
    const { trace_id: id } = await search();
    const bob = await service.mint({ sub: 'bob', scopes: SCOPES });
    const [foreign, absent] = [await trace(id, bob), await trace('f'.repeat(32), bob)];
    const { trace_id: _one, instance: _first, ...first } = foreign.body;
    const { trace_id: _two, instance: _second, ...second } = absent.body;
    expect([foreign.status, first]).to.deep.equal([absent.status, second]);
    expect((await trace('not-a-trace')).status).to.equal(400);
  });

  it('is written without anybody asking, in groups', async () => {
    const before = (await stored()).length;
    for (let i = 0; i < 5; i += 1) await search(`unasked ${i}`);
    const until = systemClock() + 20_000;
    while ((await stored()).length < before + 5 && systemClock() < until) await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await stored()).length).to.equal(before + 5);
  });

  it('is whole after a stop: what had gathered is stored first', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push((await search(`before the stop ${i}`)).trace_id);
    await service.restart();
    alice = await service.mint({ scopes: SCOPES });
    for (const id of ids) expect((await trace(id)).status).to.equal(200);
  });

  it('never stands in the way of a search: while it cannot be written, searches are answered, and the gap is counted and logged', async () => {
    await client.indices.putSettings({ index: indexOf('t1'), settings: { 'index.blocks.write': true } });
    const answer = await search();
    expect(answer.hits).to.have.length(1);
    expect((await trace(answer.trace_id)).status).to.equal(404);
    await client.indices.putSettings({ index: indexOf('t1'), settings: { 'index.blocks.write': false } });
    const metrics = await service.call('GET', '/metrics', await service.mint());
    expect(metrics.body).to.match(/^hindsight_recall_trace_dropped_total 1$/m);
    expect(log.filter((line) => line.includes('recalls are left out of the recall trace'))).to.have.length(1);
  });

  it('ends after 30 days', async () => {
    const { trace_id: id } = await search('in a month');
    expect((await trace(id)).status).to.equal(200);
    time.aheadMs = 30 * 86_400_000 + 1_000;
    const later = await service.mint({ scopes: SCOPES });
    expect((await trace(id, later)).status).to.equal(404);
    // the sweep looks once when the service starts
    await service.restart();
    const until = systemClock() + 20_000;
    while ((await stored()).length > 0 && systemClock() < until) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await stored()).to.deep.equal([]);
    time.aheadMs = 0;
    await service.restart();
    alice = await service.mint({ scopes: SCOPES });
  });

  it('loses its queries with the tenant’s key', async () => {
    const token = await service.mint({ tenant: 'leaver', scopes: [...SCOPES, 'memory:admin'] });
    const { trace_id: id } = await search('what was it again?', token);
    expect((await trace(id, token)).body.recalls[0]).to.include({ query: 'what was it again?' });
    expect((await service.call('POST', '/v1/keys/delete', token, { tenant: 'leaver' })).status).to.equal(200);
    const { body } = await trace(id, token);
    expect(body.recalls[0]).to.include({ query_state: 'gone' }).and.not.to.have.property('query');
  });

  it('is not kept with RECALL_TRACE=off; what was kept can be read', async () => {
    const { trace_id: id } = await search('before it was switched off');
    await service.restart({ RECALL_TRACE: 'off' });
    alice = await service.mint({ scopes: SCOPES });
    expect((await trace(id)).body.recalls[0]).to.include({ query: 'before it was switched off' });
    const after = await search('after it was switched off');
    expect((await trace(after.trace_id)).status).to.equal(404);
  });
});
