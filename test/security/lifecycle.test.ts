/** N6, L1-L5 (guard.md) on the running service: sharing and forgetting are rights of the owner, what is forgotten is gone, and no claim of time or use counts. */
import { expect } from 'chai';
import { unwrapped } from '../../src/guard/envelope.ts';
import { storedRecords } from '../support/scenario-stored.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const ALL = ['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:confirm', 'memory:admin'];

describe('life of a memory (N6, L)', function () {
  this.timeout(120_000);
  let service: HashedService;
  let alice: string;
  let bob: string;
  let other: string;

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    alice = await service.mint({ scopes: ALL, namespaces: ['team.red'] });
    bob = await service.mint({ sub: 'bob', scopes: ALL.slice(0, 4), namespaces: ['team.red'] });
    other = await service.mint({ tenant: 't2', sub: 'bob', scopes: ALL, namespaces: ['team.red'] });
  });
  after(() => service.close());

  const write = async (token: string, item: object): Promise<string> => {
    const { status, body } = await service.call('POST', '/v1/memories', token, item);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.results[0].memory_id;
  };
  const call = (method: string, path: string, token: string, body?: unknown): Promise<Answer> => service.call(method, path, token, body);
  const shows = async (token: string, word: string, id: string): Promise<string> =>
    JSON.stringify(
      await Promise.all(
        [
          call('POST', '/v1/memories/search', token, { query: word, top_k: 20, include_superseded: true }),
          call('GET', '/v1/memories?limit=200', token),
          call('GET', `/v1/memories/${id}`, token),
          call('GET', `/v1/memories/${id}/history`, token),
          call('GET', '/v1/export', token),
        ].map(async (answer) => (await answer).body as unknown),
      ),
    );

  it('N6: sharing takes memory:share, at the write and at a change', async () => {
    const mute = await service.mint({ sub: 'mute', scopes: ['memory:read', 'memory:write'], namespaces: ['team.red'] });
    const { status, body } = await call('POST', '/v1/memories', mute, {
      content: 'Mute kiwi.',
      namespace: 'team.red',
      visibility: 'shared',
    });
    expect([status, body.code]).to.deep.equal([403, 'ERR_SCOPE_MISSING']);
    const own = await write(mute, { content: 'Mute kiwi stays private.', namespace: 'team.red' });
    const change = await call('PATCH', `/v1/memories/${own}`, mute, { visibility: 'shared' });
    expect([change.status, change.body.code]).to.deep.equal([403, 'ERR_SCOPE_MISSING']);
    for (const token of [alice, bob, other]) expect(await shows(token, 'kiwi', own)).not.to.include('kiwi');
    const shared = await write(alice, { content: 'The shared papaya.', namespace: 'team.red', visibility: 'shared' });
    expect(await shows(bob, 'papaya', shared)).to.include('papaya');
    expect(await shows(other, 'papaya', shared)).not.to.include('papaya');
    // taken back, it is gone at once for the others
    expect((await call('PATCH', `/v1/memories/${shared}`, alice, { visibility: 'private' })).status).to.equal(200);
    expect(await shows(bob, 'papaya', shared)).not.to.include('papaya');
  });

  it('L1: what is forgotten stands in no answer, is forgotten twice without harm, and takes its words out of later turns', async () => {
    const talk = { session_id: 'talk', namespace: 'user.alice' };
    const first = await write(alice, { ...talk, turn: 1, content: 'My locker is behind the mangosteen stall.' });
    const second = await write(alice, { ...talk, turn: 2, content: 'It has a blue door.', source: { type: 'user', parents: [first] } });
    expect(await shows(alice, 'mangosteen', first)).to.include('mangosteen');
    const gone = await call('DELETE', `/v1/memories/${first}`, alice);
    expect(gone.body.forgotten).to.equal(1);
    expect((await call('DELETE', `/v1/memories/${first}`, alice)).body).to.deep.include({ forgotten: 0 });
    for (const token of [alice, bob, other]) expect(await shows(token, 'mangosteen', first)).not.to.include('mangosteen');
    expect((await call('GET', `/v1/memories/${second}`, alice)).status).to.equal(200);
    const later = (await storedRecords(service, 'user.alice')).find((record) => record['memory_id'] === second);
    expect(JSON.stringify(later)).not.to.include('mangosteen');
    // neither a change nor a proposal brings it back
    expect((await call('PATCH', `/v1/memories/${first}`, alice, { content: 'Back again.' })).status).to.equal(404);
  });

  it('L2: forgetting by an empty or wildcard condition, without a dry run or with another’s plan takes nothing', async () => {
    const ids = await Promise.all(['lychee', 'longan', 'durian'].map((word) => write(alice, { content: `A ${word}.`, tags: ['fruit'] })));
    for (const body of [
      {},
      { filter: {} },
      { filter: {}, dry_run: true },
      { filter: { tags: [] } },
      { filter: { tags: ['fruit'] } },
      { namespaces: ['user.alice'] },
      { filter: { tags: ['fruit'] }, dry_run: false },
    ]) {
      const { status } = await call('POST', '/v1/memories/forget', alice, body);
      expect(status, JSON.stringify(body)).to.equal(400);
    }
    const star = await call('POST', '/v1/memories/forget', alice, { filter: { tags: ['*'] }, dry_run: true });
    expect(star.body.count).to.equal(0);
    const dry = await call('POST', '/v1/memories/forget', alice, { filter: { tags: ['fruit'] }, dry_run: true });
    expect(dry.body.count).to.equal(3);
    for (const [token, plan] of [
      [bob, dry.body.plan],
      [other, dry.body.plan],
      [alice, `${dry.body.plan.slice(0, -4)}AAAA`],
    ])
      expect((await call('POST', '/v1/memories/forget', token, { plan })).status).to.be.within(400, 404);
    for (const id of ids) expect((await call('GET', `/v1/memories/${id}`, alice)).status).to.equal(200);
    // the plan takes what was counted, not what came since
    const late = await write(alice, { content: 'A rambutan.', tags: ['fruit'] });
    expect((await call('POST', '/v1/memories/forget', alice, { plan: dry.body.plan })).body.forgotten).to.equal(3);
    expect((await call('GET', `/v1/memories/${late}`, alice)).status).to.equal(200);
  });

  it('L3: nobody but its owner forgets or changes a shared memory', async () => {
    const id = await write(alice, { content: 'The shared tamarind.', namespace: 'team.red', visibility: 'shared' });
    const agent = await service.mint({
      sub: 'bob',
      actor: 'agent',
      scopes: ['memory:read', 'memory:write', 'memory:forget'],
      namespaces: ['team.red'],
    });
    for (const token of [bob, agent, other]) {
      const { status, body } = await call('DELETE', `/v1/memories/${id}`, token);
      expect(status === 200 ? body.forgotten : 0, JSON.stringify(body)).to.equal(0);
      const { body: dry } = await call('POST', '/v1/memories/forget', token, {
        namespaces: ['team.red'],
        filter: { kind: ['fact', 'event', 'preference'] },
        dry_run: true,
      });
      if (dry.plan !== undefined) await call('POST', '/v1/memories/forget', token, { plan: dry.plan });
    }
    const { body } = await call('GET', `/v1/memories/${id}`, alice);
    expect([body.content, body.version]).to.deep.equal(['The shared tamarind.', 1]);
    expect(unwrapped((await call('GET', `/v1/memories/${id}`, bob)).body.content)).to.equal('The shared tamarind.');
  });

  it('L4: the time of a memory is the server’s: no claim makes it newer, and lives are bounded', async () => {
    for (const claim of [
      { created_at: '2099-01-01T00:00:00Z' },
      { updated_at: '2099-01-01T00:00:00Z' },
      { last_access_day: '2099-01-01' },
      { access_level: 9 },
      { ttl_seconds: -1 },
      { ttl_seconds: 1e12 },
      { ttl_seconds: 1.5 },
    ])
      expect((await call('POST', '/v1/memories', alice, { content: 'x', ...claim })).status, JSON.stringify(claim)).to.equal(400);
    const before = Date.now();
    const id = await write(alice, { content: 'The salak is ripe.', occurred_at: '2098-01-01T00:00:00Z' });
    const { body } = await call('GET', `/v1/memories/${id}`, alice);
    expect(Date.parse(body.created_at)).to.be.within(before - 1_000, Date.now() + 1_000);
  });

  it('L5: polling does not make a memory rank before one that answers as well', async () => {
    const first = await write(alice, { wait: true, content: 'The soursop grows by the gate.' });
    const rank = async (): Promise<readonly string[]> =>
      (await call('POST', '/v1/memories/search', alice, { query: 'soursop by the wall', top_k: 2 })).body.hits.map(
        (hit: { memory_id: string }) => hit.memory_id,
      );
    const second = await write(alice, { wait: true, content: 'The soursop grows by the wall.' });
    expect(await rank()).to.deep.equal([second, first]);
    for (let i = 0; i < 200; i += 1) await call('POST', '/v1/memories/search', alice, { query: 'soursop by the gate', top_k: 1 });
    expect(await rank()).to.deep.equal([second, first]);
  });
});
