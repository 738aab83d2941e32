/** collect: off for a namespace (guard.md): nothing new is kept there by any way in, and what is there stays in the person's hands. */
import { expect } from 'chai';
import { mcpFrontEnd } from '../support/scenario-front-ends.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const SCOPES = ['memory:read', 'memory:write', 'memory:forget'];

describe('a namespace with collecting off', function () {
  this.timeout(60_000);
  let service: HashedService;
  let alice: string;
  let agent: string;
  let memoryId: string;

  before(async () => {
    service = await startHashedService();
    alice = await service.mint({ scopes: SCOPES });
    agent = await service.mint({ actor: 'agent', scopes: SCOPES });
    const { body } = await service.call('POST', '/v1/memories', alice, { content: 'Ana prefers green tea.' });
    memoryId = body.results[0].memory_id;
    const answer = await service.call('PUT', '/v1/namespaces/user.alice', alice, { collect: 'off' });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body).to.include({ namespace: 'user.alice', collect: 'off' });
  });
  after(() => service.close());

  const isDropped = (results: { memory_id: null; outcome: string; reason: string }[]): void => {
    for (const result of results) {
      expect(result).to.include({ memory_id: null, outcome: 'dropped' });
      expect(result.reason).to.match(/^collection off/);
    }
  };

  it('says so, and drops single writes, batches and imports', async () => {
    expect((await service.call('GET', '/v1/namespaces/user.alice', alice)).body.collect).to.equal('off');
    const one = await service.call('POST', '/v1/memories', alice, { content: 'Dropped.' });
    const many = await service.call('POST', '/v1/memories', alice, { items: [{ content: 'Dropped.' }, { content: 'Dropped too.' }] });
    const file = await service.call('POST', '/v1/import', await service.mint({ scopes: [...SCOPES, 'memory:admin'] }), {
      items: [{ content: 'Dropped.' }],
    });
    for (const [answer, count] of [
      [one, 1],
      [many, 2],
      [file, 1],
    ] as const) {
      expect(answer.body.results).to.have.length(count);
      isDropped(answer.body.results);
    }
    const listed = await service.call('GET', '/v1/memories', alice);
    expect(listed.body.items.map((item: { memory_id: string }) => item.memory_id)).to.deep.equal([memoryId]);
  });

  it('drops what the person’s agent writes over MCP', async () => {
    const mcp = mcpFrontEnd(service);
    const result = await mcp.call(agent, 'memory_write', { content: 'Dropped.' });
    expect(result.ok).to.equal(true);
    if (result.ok) isDropped(result.output['results']);
    await mcp.close();
  });

  it('still lets what is there be corrected and forgotten', async () => {
    const corrected = await service.call('PATCH', `/v1/memories/${memoryId}`, alice, { content: 'Ana prefers oat milk tea.' });
    expect(corrected.body.outcome).to.equal('updated');
    expect((await service.call('DELETE', `/v1/memories/${memoryId}`, alice)).body.forgotten).to.equal(1);
  });

  it('is switched by its owner or with memory:admin alone, never by an agent, and only where the token may write', async () => {
    const bob = await service.mint({ sub: 'bob', scopes: SCOPES, namespaces: ['user.alice', 'team.a'] });
    const admin = await service.mint({ sub: 'root', scopes: [...SCOPES, 'memory:admin'], namespaces: ['team.a'] });
    const put = (token: string, namespace: string) => service.call('PUT', `/v1/namespaces/${namespace}`, token, { collect: 'on' });
    expect((await put(bob, 'team.a')).body.code).to.equal('ERR_SCOPE_MISSING');
    expect((await put(bob, 'user.alice')).body.code).to.equal('ERR_SCOPE_MISSING');
    expect((await put(agent, 'user.alice')).body.code).to.equal('ERR_ACTOR_FORBIDDEN');
    expect((await put(admin, 'user.alice')).body.code).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect((await put(admin, 'team.a')).status).to.equal(200);
    expect((await service.call('GET', '/v1/namespaces/user.alice', admin)).body.code).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect((await service.call('GET', '/v1/namespaces/user.alice', alice)).body.collect).to.equal('off');
  });

  it('takes new memories again at once when it is switched on', async () => {
    expect((await service.call('PUT', '/v1/namespaces/user.alice', alice, { collect: 'on' })).body.collect).to.equal('on');
    expect((await service.call('POST', '/v1/memories', alice, { content: 'Kept.' })).body.results[0].outcome).to.equal('stored');
  });

  it('is the namespace of one tenant: the same name in another is untouched', async () => {
    const other = await service.mint({ tenant: 't2', scopes: SCOPES });
    await service.call('PUT', '/v1/namespaces/user.alice', alice, { collect: 'off' });
    expect((await service.call('GET', '/v1/namespaces/user.alice', other)).body.collect).to.equal('on');
    expect((await service.call('POST', '/v1/memories', other, { content: 'Kept.' })).body.results[0].outcome).to.equal('stored');
  });
});
