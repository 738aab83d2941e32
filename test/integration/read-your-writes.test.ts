import { expect } from 'chai';
import { startHashedService, type HashedService } from '../support/service.ts';

/** Clients at the same time, rounds of each, searches at the same time in each round: 50 writes, 250 searches. */
const CLIENTS = 5;
const ROUNDS = 10;
const SEARCHES = 5;

describe('read your writes on the composed service', function () {
  this.timeout(120_000);
  let service: HashedService;

  before(async () => {
    service = await startHashedService();
  });
  after(() => service.close());

  it('every search after an acknowledged write finds it, however many clients write and search in one tenant', async () => {
    const lost: string[] = [];
    const client = async (n: number): Promise<void> => {
      const token = await service.mint({ sub: `client-${n}` });
      for (let round = 0; round < ROUNDS; round += 1) {
        const word = `marker${n}x${round}`;
        const written = await service.call('POST', '/v1/memories', token, { content: `The ${word} lies in drawer ${round}.` });
        const id: string = written.body.results[0].memory_id;
        const answers = await Promise.all(
          Array.from({ length: SEARCHES }, () =>
            service.call('POST', '/v1/memories/search', token, { query: `Where is ${word}?`, top_k: 20 }),
          ),
        );
        for (const [i, { status, body }] of answers.entries()) {
          const ids = ((body.hits ?? []) as { memory_id: string }[]).map((hit) => hit.memory_id);
          if (status !== 200 || !ids.includes(id)) lost.push(`${word}, search ${i + 1}: ${status}, ${ids.length} hits`);
        }
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)));
    expect(lost).to.deep.equal([]);
  });

  it('lists, updates and forgets show at once, too, also to readers at the same time', async () => {
    const token = await service.mint({ sub: 'lister' });
    for (let round = 0; round < 10; round += 1) {
      const { body } = await service.call('POST', '/v1/memories', token, { content: `Draft ${round} of the poem.`, tags: ['poem'] });
      const path = `/v1/memories/${body.results[0].memory_id}`;
      const readers = (): Promise<{ body: { items: { content: string }[] } }[]> =>
        Promise.all(Array.from({ length: 3 }, () => service.call('GET', '/v1/memories?tags=poem', token)));
      for (const { body: list } of await readers())
        expect(list.items.map((item) => item.content)).to.deep.equal([`Draft ${round} of the poem.`]);
      await service.call('PATCH', path, token, { content: `Poem ${round}.` });
      for (const { body: list } of await readers()) expect(list.items.map((item) => item.content)).to.deep.equal([`Poem ${round}.`]);
      await service.call('DELETE', path, token);
      for (const { body: list } of await readers()) expect(list.items).to.deep.equal([]);
    }
  });
});
