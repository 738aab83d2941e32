/** Changes of stored memories on a real engine: into a slot that is taken, and beside others that change or forget the same memory. */
import { expect } from 'chai';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

describe('a memory that is changed over REST', function () {
  this.timeout(180_000);
  let service: HashedService;
  let nth = 0;
  before(async () => (service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' })));
  after(() => service.close());

  async function call(method: string, path: string, token: string, body?: unknown): Promise<Answer['body']> {
    const answer = await service.call(method, path, token, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  }
  const own = async (actor: 'user' | 'agent', sub = `ann${nth}`): Promise<string> => service.mint({ sub, actor });
  const write = async (token: string, content: string, more: object = {}): Promise<string> =>
    (await call('POST', '/v1/memories', token, { content, ...more })).results[0].memory_id;
  const stands = async (token: string, id: string): Promise<Answer['body']> =>
    (await call('GET', '/v1/memories?status=active,conflict,superseded', token)).items.find(
      (item: { memory_id: string }) => item.memory_id === id,
    );

  it('takes the place of the memory in the slot it moves into, and gives it to the next value', async () => {
    nth += 1;
    const token = await own('user');
    const rome = await write(token, 'I live in Rome.');
    const moved = await write(token, 'I work at Bosch.');
    await call('PATCH', `/v1/memories/${moved}`, token, { content: 'I live in Oslo.' });
    expect(await stands(token, rome)).to.include({ status: 'superseded', superseded_by: moved });
    expect((await stands(token, moved)).status).to.equal('active');
    const kiel = await write(token, 'I live in Kiel.');
    expect(await stands(token, moved)).to.include({ status: 'superseded', superseded_by: kiel });
    expect((await stands(token, kiel)).status).to.equal('active');
  });

  it('takes no place of what is more trusted: both stay, and it is in doubt', async () => {
    nth += 1;
    const [person, agent] = [await own('user'), await own('agent')];
    const rome = await write(person, 'I live in Rome.');
    const other = await write(agent, 'I work at Bosch.');
    const { reason } = await call('PATCH', `/v1/memories/${other}`, agent, { content: 'I live in Oslo.' });
    expect(reason).to.contain('otherwise');
    expect((await stands(agent, rome)).status).to.equal('active');
    expect((await stands(agent, other)).status).to.equal('conflict');
  });

  it('is history at once where it tells of a time before what stands there', async () => {
    nth += 1;
    const token = await own('user');
    const rome = await write(token, 'I live in Rome.', { occurred_at: '2025-05-01T00:00:00Z' });
    const other = await write(token, 'I work at Bosch.');
    await call('PATCH', `/v1/memories/${other}`, token, { content: 'I live in Oslo.', occurred_at: '2019-05-01T00:00:00Z' });
    expect((await stands(token, rome)).status).to.equal('active');
    expect(await stands(token, other)).to.include({ status: 'superseded', superseded_by: rome });
  });

  it('leaves one value where several move into the slot at once, beside a write', async () => {
    for (let race = 0; race < 3; race += 1) {
      nth += 1;
      const token = await own('user');
      const ids = [await write(token, 'I work at Bosch.'), await write(token, 'My cat is called Minka.')];
      await Promise.all([
        call('PATCH', `/v1/memories/${ids[0]}`, token, { content: 'I live in Oslo.' }),
        call('PATCH', `/v1/memories/${ids[1]}`, token, { content: 'I live in Turin.' }),
        write(token, 'I live in Kiel.'),
      ]);
      const { items } = await call('GET', '/v1/memories?status=active', token);
      expect(items.map(({ content }: { content: string }) => content)).to.have.length(1);
    }
  });

  it('is changed and forgotten without a version while others change it too', async () => {
    nth += 1;
    const token = await own('user');
    const id = await write(token, 'The kettle holds two litres.');
    const keys = Array.from({ length: 8 }, (_, i) => `key_${i}`);
    await Promise.all(keys.map((key) => call('PATCH', `/v1/memories/${id}`, token, { metadata: { [key]: 'x' } })));
    expect(Object.keys((await stands(token, id)).metadata).sort()).to.deep.equal(keys);
    const merges = Promise.all(
      keys.map((key) => write(token, 'The kettle holds two litres.', { source: { type: 'tool', uri: `https://a.example/${key}` } })),
    );
    const { forgotten } = await call('DELETE', `/v1/memories/${id}`, token);
    await merges;
    expect(forgotten).to.equal(1);
  });

  it('is left by a plan whose dry run showed other words', async () => {
    nth += 1;
    const token = await own('user');
    const id = await write(token, 'Parcel 1 holds 12 lamps.', { tags: ['parcels'] });
    const target = { filter: { tags: ['parcels'] } };
    const { plan } = await call('POST', '/v1/memories/forget', token, { ...target, dry_run: true });
    await call('PATCH', `/v1/memories/${id}`, token, { content: 'Parcel 1 went back to its sender.' });
    const done = await call('POST', '/v1/memories/forget', token, { ...target, plan });
    expect(done).to.include({ forgotten: 0 });
    expect(done.skipped[0].memory_id).to.equal(id);
    expect((await stands(token, id)).status).to.equal('active');
  });
});
