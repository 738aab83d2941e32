/** S7 of the threat model: encryption at rest, over the composed service: keys per tenant, rotation, wrong key, deletion, a backup without keys. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createClient } from '../../src/elastic/client.ts';
import { SCOPES } from '../../src/domain/principal.ts';
import { startService, type Answer, type TestService } from '../support/service.ts';

const PASSWORD = 'Tr0ub4dor&3-zebra';
const TEXT = `The password of the staging database is: ${PASSWORD}`;
const masterKey = (): string => randomBytes(32).toString('base64');

describe('S7, sealed at rest', function () {
  this.timeout(240_000);
  let service: TestService;
  let user: string;
  let memoryId: string;
  const first = masterKey();
  const second = masterKey();
  const reveal = (token: string, id = memoryId): Promise<Answer> => service.call('POST', `/v1/memories/${id}/reveal`, token, {});
  const keep = async (token: string): Promise<string> => {
    const { body } = await service.call('POST', '/v1/memories', token, { content: TEXT, secrets: 'seal', admission: 'keep' });
    expect(body.results[0].outcome, JSON.stringify(body)).to.equal('stored');
    return body.results[0].memory_id;
  };

  before(async () => {
    service = await startService({ MASTER_KEY: first });
    user = await service.mint({ scopes: [...SCOPES] });
    memoryId = await keep(user);
  });
  after(() => service.close());

  it('the value stands in no index, and comes out through reveal alone', async () => {
    const client = createClient({ url: service.engineUrl });
    try {
      await client.indices.refresh({ index: `${service.prefix}-*` });
      const all = await client.search({ index: `${service.prefix}-*`, size: 1_000 });
      expect(all.hits.hits.length).to.be.above(2);
      const stored = JSON.stringify(all.hits.hits);
      expect(stored).to.not.contain(PASSWORD);
      expect(stored).to.contain('"key_id"');
    } finally {
      await client.close();
    }
    for (const path of [
      `/v1/memories/${memoryId}`,
      `/v1/memories/${memoryId}?raw=true`,
      `/v1/memories/${memoryId}/history`,
      '/v1/memories',
      '/v1/export',
    ]) {
      const { status, body } = await service.call('GET', path, user);
      expect(status, path).to.equal(200);
      expect(JSON.stringify(body), path).to.not.contain(PASSWORD).and.not.contain('"sealed"');
    }
    const { status, body, headers } = await reveal(user);
    expect(status).to.equal(200);
    expect(body.values.map(({ value }: { value: string }) => value)).to.deep.equal([PASSWORD]);
    expect(headers.get('cache-control')).to.equal('no-store');
  });

  it('is for a person with memory:reveal, and says the same of a foreign memory and of none', async () => {
    const agent = await service.mint({ scopes: [...SCOPES], actor: 'agent' });
    expect((await reveal(agent)).body.code).to.equal('ERR_ACTOR_FORBIDDEN');
    const without = await service.mint({ scopes: SCOPES.filter((scope) => scope !== 'memory:reveal') });
    expect((await reveal(without)).body.code).to.equal('ERR_SCOPE_MISSING');
    const absent = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
    for (const facts of [{ tenant: 't2' }, { sub: 'bob' }]) {
      const stranger = await service.mint({ scopes: [...SCOPES], ...facts });
      const [foreign, none] = [await reveal(stranger), await reveal(stranger, absent)];
      expect(foreign.status).to.equal(404);
      const plain = ({ body }: Answer): object => ({ ...body, trace_id: '', instance: '' });
      expect(plain(foreign)).to.deep.equal(plain(none));
    }
  });

  it('with another MASTER_KEY nothing starts; with the old one beside the new one everything is readable', async () => {
    const error = await service.restart({ MASTER_KEY: second }).catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('MASTER_KEY').and.not.contain(second);
    await service.restart({ MASTER_KEY: second, MASTER_KEY_PREVIOUS: first });
    expect((await reveal(user)).body.values[0].value).to.equal(PASSWORD);
  });

  it('a tenant’s documents without its key, as a backup has them, tell nothing', async () => {
    const client = createClient({ url: service.engineUrl });
    try {
      await client.indices.refresh({ index: `${service.prefix}-mem-*` });
      const { hits } = await client.search<{ sealed?: string }>({
        index: `${service.prefix}-mem-*`,
        query: { exists: { field: 'key_id' } },
      });
      expect(hits.hits.length).to.be.above(0);
      for (const { _source } of hits.hits) {
        const bytes = Buffer.from(_source?.sealed ?? '', 'base64');
        expect(bytes.length).to.be.above(PASSWORD.length);
        expect(bytes.includes(PASSWORD)).to.equal(false);
      }
    } finally {
      await client.close();
    }
  });

  it('forgetting takes the sealed value along', async () => {
    const id = await keep(user);
    expect((await service.call('DELETE', `/v1/memories/${id}`, user)).status).to.equal(200);
    expect((await reveal(user, id)).status).to.equal(404);
    const client = createClient({ url: service.engineUrl });
    try {
      await client.indices.refresh({ index: `${service.prefix}-mem-*` });
      const query = { bool: { filter: [{ term: { memory_id: id } }, { exists: { field: 'key_id' } }] } };
      expect((await client.count({ index: `${service.prefix}-mem-*`, query })).count).to.equal(0);
    } finally {
      await client.close();
    }
  });

  it('deleting the tenant’s keys is its administrator’s, and makes what was sealed unreadable, with a clear answer', async () => {
    const wrong = await service.call('POST', '/v1/keys/delete', user, { tenant: 't2' });
    expect(wrong.status).to.equal(400);
    const agent = await service.mint({ scopes: [...SCOPES], actor: 'agent' });
    expect((await service.call('POST', '/v1/keys/delete', agent, { tenant: 't1' })).status).to.equal(403);
    expect((await reveal(user)).status, 'nothing happened so far').to.equal(200);

    const { status, body } = await service.call('POST', '/v1/keys/delete', user, { tenant: 't1' });
    expect(status).to.equal(200);
    expect(body.keys_deleted).to.equal(2);
    const gone = await reveal(user);
    expect([gone.status, gone.body.code]).to.deep.equal([410, 'ERR_KEY_DELETED']);
    // the memory itself stays, masked
    const read = await service.call('GET', `/v1/memories/${memoryId}`, user);
    expect(read.status).to.equal(200);
    expect(read.body.content).to.not.contain(PASSWORD);
    // no new key comes by itself
    const again = await service.call('POST', '/v1/memories', user, { content: TEXT, secrets: 'seal' });
    expect(again.body.code).to.equal('ERR_KEY_DELETED');
    // another tenant has its own
    const other = await service.mint({ tenant: 't2', scopes: [...SCOPES] });
    expect((await reveal(other, await keep(other))).body.values[0].value).to.equal(PASSWORD);
  });
});
