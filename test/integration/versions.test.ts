/** Versions on a real engine: going back, what a memory was, and what was held at a time, with and without the vector of the head. */
import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { openMemoryService, type MemoryService } from '../support/memory-service.ts';
import { principal } from '../support/principals.ts';

describe('versions on a real engine', function () {
  this.timeout(120_000);
  let service: MemoryService;
  let tenants = 0;
  before(async function () {
    this.timeout(600_000);
    service = await openMemoryService();
  });
  after(() => service.close());

  const newUser = () => principal({ tenant: `v-${(tenants += 1)}` });
  const now = async (): Promise<string> => {
    // strictly between two writes
    await pause(3);
    const time = new Date().toISOString();
    await pause(3);
    return time;
  };

  it('goes back to a version, finds it by its meaning again, and tells what was in between', async () => {
    const ann = newUser();
    const write = { content: 'Ana goes to work by bicycle.', subject: 'Ana', topic: 'commute', admission: 'keep', wait: true } as const;
    const id = (await service.memory.write(write, service.call(ann))).results[0]?.memory_id ?? '';
    await service.memory.update({ memory_id: id, content: 'Ana takes the tram downtown.' }, service.call(ann));
    expect(await service.memory.restore({ memory_id: id, version: 1 }, service.call(ann))).to.include({ outcome: 'restored', version: 3 });
    const { hits } = await service.memory.search({ query: 'Does Ana cycle to the office?' }, service.call(ann));
    expect(hits[0]).to.include({ memory_id: id, content: 'Ana goes to work by bicycle.', version: 3 });
    expect(hits[0]?.was).to.include({ content: 'Ana takes the tram downtown.' });
    await service.memory.forget({ memory_id: id }, service.call(ann));
    expect((await service.memory.search({ query: 'Ana bicycle' }, service.call(ann))).hits).to.deep.equal([]);
    await service.memory.restore({ memory_id: id }, service.call(ann));
    expect((await service.memory.search({ query: 'Ana bicycle' }, service.call(ann))).hits[0]).to.include({ memory_id: id, version: 5 });
  });

  it('brings as of a time the words of then, those still held by their meaning too', async () => {
    const ann = newUser();
    const items = [
      { content: 'The office of the team is in Lisbon.', tags: ['office'] },
      { content: 'Maria’s dog is called Bento.' },
      { content: '李明对花生过敏，点餐时要避开花生酱。' },
    ].map((item) => ({ ...item, admission: 'keep' as const }));
    const { results } = await service.memory.write({ items, wait: true }, service.call(ann));
    const [office = '', dog = '', allergy = ''] = results.map((r) => r.memory_id ?? '');
    const first = await now();
    await service.memory.update({ memory_id: office, content: 'The office of the team is in Porto.' }, service.call(ann));
    await service.memory.update({ memory_id: dog, importance: 0.9 }, service.call(ann));
    await service.memory.update({ memory_id: allergy, invalid: true }, service.call(ann));
    const second = await now();
    const ask = async (query: string, as_of: string, more: object = {}) => {
      // a busy model answers by words alone, and says so
      for (let tries = 1; ; tries += 1) {
        const { hits, degraded } = await service.memory.search({ query, as_of, ...more }, service.call(ann));
        if (degraded.length === 0) return hits;
        expect(tries, degraded.join(', ')).to.be.below(10);
      }
    };

    expect((await ask('Where is the office?', first))[0]).to.include({
      memory_id: office,
      content: 'The office of the team is in Lisbon.',
      version: 1,
    });
    expect((await ask('Where is the office?', second))[0]).to.include({ content: 'The office of the team is in Porto.', version: 2 });
    // its words of then are said nowhere any more: a vector is made for them
    const [then] = await ask('In which city does the team have its office?', first, { explain: true });
    expect(then).to.include({ memory_id: office, version: 1 });
    expect(then?.explain?.signals.find(({ signal }) => signal === 'vector')?.raw).to.be.a('number');
    expect(await ask('Porto', first)).to.satisfy((hits: { content: string }[]) => hits.every((hit) => !hit.content.includes('Porto')));
    // no word in common with the question: the head says the same and brings its vector
    const [pet] = await ask('What is the name of her pet?', first, { explain: true });
    expect(pet).to.include({ memory_id: dog, version: 1 }).and.not.to.have.property('importance');
    expect(pet?.explain?.signals.find(({ signal }) => signal === 'vector')?.raw).to.be.a('number');
    expect((await ask('他吃什么会过敏？', first))[0]).to.include({ memory_id: allergy, status: 'active', version: 1 });
    expect((await ask('他吃什么会过敏？', second)).map((hit) => hit.memory_id)).not.to.include(allergy);
    const [ended] = await ask('他吃什么会过敏？', second, { include_superseded: true });
    expect(ended).to.include({ memory_id: allergy, status: 'superseded' });
    expect(ended?.valid_to).to.be.a('string');
    expect(await ask('Where is the office?', first, { filter: { tags: ['other'] } })).to.deep.equal([]);
    expect((await ask('Where is the office?', first, { filter: { tags: ['office'] } }))[0]).to.include({ memory_id: office });

    await service.memory.forget({ memory_id: office }, service.call(ann));
    expect((await ask('Where is the office?', first)).map((hit) => hit.memory_id)).not.to.include(office);
    const before = new Date(Date.parse(first) - 86_400_000).toISOString();
    expect(await ask('Where is the office?', before)).to.deep.equal([]);
    expect((await ask('What is the name of her pet?', first))[0]).to.include({ memory_id: dog });
  });

  it('answers as of a time where nothing was ever written or changed', async () => {
    const ann = newUser();
    const { hits } = await service.memory.search({ query: 'anything', as_of: '2020-01-01T00:00:00Z' }, service.call(ann));
    expect(hits).to.deep.equal([]);
    await service.memory.write({ content: 'The locker code is blue seven.', admission: 'keep' }, service.call(ann));
    const found = await service.memory.search({ query: 'locker code', as_of: await now() }, service.call(ann));
    expect(found.hits.map((hit) => hit.content)).to.deep.equal(['The locker code is blue seven.']);
  });
});
