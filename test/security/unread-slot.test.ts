/** Slots of memories that their writer may not read: a token without memory:read neither takes over what is more trusted or another's, nor learns what it says. */
import { expect } from 'chai';
import type { ScopeName } from '../../src/domain/principal.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const BLIND: readonly ScopeName[] = ['memory:write', 'memory:share'];
const SEEING: readonly ScopeName[] = ['memory:read', 'memory:write', 'memory:share'];

describe('a slot whose memory its writer may not read', function () {
  this.timeout(120_000);
  let service: HashedService;
  before(async () => (service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' })));
  after(() => service.close());

  const token = (sub: string, scopes: readonly ScopeName[], actor: 'user' | 'agent' = 'user'): Promise<string> =>
    service.mint({ sub, actor, scopes, namespaces: [`user.${sub}.**`, 'team.slots.**'] });
  const write = async (as: string, item: object) => {
    const { status, body } = await service.call('POST', '/v1/memories', as, item);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.results[0];
  };
  const statusOf = async (as: string, id: string): Promise<string> => (await service.call('GET', `/v1/memories/${id}`, as)).body.status;

  it('is not taken over by what is trusted less', async () => {
    const alice = await token('alice', SEEING);
    const agent = await token('alice', BLIND, 'agent');
    const rome = await write(alice, { content: 'I live in Rome.', namespace: 'user.alice.home' });
    for (const more of [{}, { source: { type: 'web', uri: 'https://evil.example/x' } }]) {
      const oslo = await write(agent, { content: 'I live in Oslo.', namespace: 'user.alice.home', ...more });
      expect([oslo.outcome, oslo.replaced]).to.deep.equal(['conflict', []]);
    }
    expect(await statusOf(alice, rome.memory_id)).to.equal('active');
  });

  it('is not taken over by another person without memory:admin', async () => {
    const slot = { subject: 'Ana', topic: 'manager', visibility: 'shared', namespace: 'team.slots.people', kind: 'fact' };
    const alice = await token('alice', SEEING);
    const carla = await write(alice, { ...slot, content: 'Ana’s manager is Carla.' });
    const dora = await write(await token('carl', BLIND), { ...slot, content: 'Ana’s manager is Dora.' });
    expect([dora.outcome, dora.replaced]).to.deep.equal(['conflict', []]);
    expect(await statusOf(alice, carla.memory_id)).to.equal('active');
  });

  it('takes the owner’s own new value, and tells nothing of what was there', async () => {
    const bob = await token('bob', SEEING);
    const lima = await write(bob, { content: 'I live in Lima.', namespace: 'user.bob.home' });
    const quito = await write(await token('bob', BLIND), { content: 'I live in Quito.', namespace: 'user.bob.home' });
    expect([quito.outcome, quito.reason]).to.deep.equal(['replaced', 'a new value']);
    expect(await statusOf(bob, lima.memory_id)).to.equal('superseded');
  });
});
