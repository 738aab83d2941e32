/** What a search may tell besides its hits: neither why-not nor the turns around a hit show anything across tenants, namespaces and owners. */
import { expect } from 'chai';
import { SCOPES } from '../../src/domain/principal.ts';
import { createUuidV7 } from '../../src/memory/uuid.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const SECRET = 'albatross';

describe('why-not and neighbours', function () {
  this.timeout(240_000);
  let service: HashedService;
  let thief: string;
  const newId = createUuidV7(Date.now);
  const foreign: Record<string, string> = {};

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    thief = await service.mint({ sub: 'eve', scopes: SCOPES, actor: 'user', namespaces: ['team.eve.**', 'team.both'] });
    const write = async (tenant: string, namespace: string, visibility: string, turn: number): Promise<string> => {
      const owner = await service.mint({ tenant, sub: 'owner', namespaces: ['**'] });
      const item = {
        content: `The code word is ${SECRET}, turn ${turn}.`,
        namespace,
        visibility,
        session_id: 'talk',
        turn,
        admission: 'keep',
      };
      const { body } = await service.call('POST', '/v1/memories', owner, { ...item, wait: true });
      return body.results[0].memory_id;
    };
    foreign['another tenant'] = await write('t2', 'team.eve.x', 'shared', 1);
    foreign['another namespace'] = await write('t1', 'team.owner', 'shared', 1);
    foreign['another’s own namespace'] = await write('t1', 'user.owner', 'private', 1);
    foreign['private to another'] = await write('t1', 'team.both', 'private', 1);
    foreign['of another in a shared place'] = await write('t1', 'team.both', 'private', 3);
    for (const namespace of ['team.eve.x', 'team.both']) {
      const item = { content: 'Eve wonders about the code word.', namespace, visibility: 'shared', session_id: 'talk', turn: 2 };
      await service.call('POST', '/v1/memories', thief, { ...item, admission: 'keep', wait: true });
    }
  });
  after(() => service.close());

  const search = (body: object) => service.call('POST', '/v1/memories/search', thief, { query: `code word ${SECRET}`, ...body });

  it('N5 answer a foreign id word for word like one that was never given, whatever else is asked', async () => {
    const ask = async (id: string, more: object): Promise<unknown> => {
      const { status, body } = await search({ why_not: [id], ...more });
      return [status, JSON.stringify(body.why_not).replaceAll(id, 'ID')];
    };
    for (const more of [
      {},
      { explain: true, min_score: 0 },
      { namespaces: ['team.both'] },
      { filter: { tags: ['x'], subject: 'y' } },
      { influence_only: true, trust_floor: 'user_stated' },
      { include_superseded: true, token_budget: 50 },
    ]) {
      const absent = await ask(newId(), more);
      expect(absent).to.have.property('0', 200);
      expect(absent).to.have.property('1').that.includes('"outcome":"unknown"');
      for (const [what, id] of Object.entries(foreign))
        expect(await ask(id, more), `${what} ${JSON.stringify(more)}`).to.deep.equal(absent);
    }
  });

  it('N5 tell nothing of foreign ids through those beside them', async () => {
    const own = (await search({ namespaces: ['team.both'] })).body.hits[0].memory_id as string;
    const ask = async (id: string) => JSON.stringify((await search({ why_not: [own, id, own] })).body.why_not).replaceAll(id, 'ID');
    const absent = await ask(newId());
    for (const id of Object.values(foreign)) expect(await ask(id)).to.equal(absent);
  });

  it('N5 show around a hit no turn of the same session and number that is another’s', async () => {
    for (const namespaces of [['team.eve.x'], ['team.both'], ['team.eve.x', 'team.both']]) {
      const { status, body } = await search({ namespaces, neighbours: 2, explain: true, top_k: 20 });
      expect(status).to.equal(200);
      expect(body.hits.length, namespaces.join()).to.be.greaterThan(0);
      expect(JSON.stringify(body)).not.to.include(`${SECRET}, turn`);
      for (const hit of body.hits) expect(hit).not.to.have.property('neighbours');
    }
    const refused = await search({ namespaces: ['team.owner'], neighbours: 2 });
    expect(refused.body.code).to.equal('ERR_NAMESPACE_FORBIDDEN');
  });

  it('show the owner what the others are not shown', async () => {
    const owner = await service.mint({ tenant: 't1', sub: 'owner', namespaces: ['**'] });
    const id = foreign['private to another'] ?? '';
    const body = { query: `code word ${SECRET}`, namespaces: ['team.owner'], why_not: [id] };
    const told = await service.call('POST', '/v1/memories/search', owner, body);
    expect(told.body.why_not[0].outcome).to.equal('namespace');
  });
});
