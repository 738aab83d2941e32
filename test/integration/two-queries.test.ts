/** Two queries, the turns around a hit and why-not on a real engine with the local models. */
import { expect } from 'chai';
import { openMemoryService, type MemoryService } from '../support/memory-service.ts';
import { principal } from '../support/principals.ts';

describe('a search told more than one question, on a real engine', function () {
  this.timeout(120_000);
  let service: MemoryService;
  let tenants = 0;
  before(async function () {
    this.timeout(600_000);
    service = await openMemoryService();
  });
  after(() => service.close());

  const newUser = (more: Parameters<typeof principal>[0] = {}) => principal({ tenant: `q-${(tenants += 1)}`, ...more });

  it('honours code, name and date of either text in one request, and adds up to the engine’s score', async () => {
    const call = service.call(newUser());
    const items = [
      { content: 'The parcel A-8841 was handed to the porter.', occurred_at: '2024-05-02T09:00:00Z' },
      { content: 'The parcel A-8842 was handed to the porter.', occurred_at: '2024-05-02T09:00:00Z' },
      { content: 'Caroline ordered a tea set.', subject: 'Caroline' },
      { content: '小明把快递放在了门卫那里。' },
    ];
    const { results } = await service.memory.write({ items, wait: true }, call);
    const ids = results.map(({ memory_id: id }) => id);
    const answer = await service.memory.search(
      { queries: ['and where did A-8841 go on 2 May 2024?', 'Where is the tea set that Caroline ordered?'], explain: true, top_k: 4 },
      call,
    );
    const of = (at: number) => answer.hits.find(({ memory_id: id }) => id === ids[at])?.explain;
    const raw = (at: number, name: string) => of(at)?.signals.find(({ signal }) => signal === name)?.raw;
    expect(answer.degraded).to.deep.equal([]);
    expect(answer.hits.map(({ memory_id: id }) => id).slice(0, 1)).to.deep.equal([ids[0]]);
    expect(answer.hits.map(({ memory_id: id }) => id)).to.include(ids[2]);
    expect(raw(0, 'exact')).to.equal(1);
    expect(raw(0, 'date')).to.be.closeTo(1, 0.01);
    expect(raw(2, 'speaker')).to.equal(1);
    expect(raw(1, 'exact')).to.equal(null);
    expect(of(0)?.queries?.[0]?.words).to.be.greaterThan(of(0)?.queries?.[1]?.words ?? 0);
    expect(of(2)?.queries?.[1]?.words).to.be.greaterThan(of(2)?.queries?.[0]?.words ?? 0);
    for (const { explain } of answer.hits) {
      const cosine = explain?.signals.find(({ signal }) => signal.startsWith('vector'))?.raw;
      expect(cosine === null || Math.abs(cosine ?? 2) <= 1).to.equal(true);
    }
  });

  it('asks each language in its own space', async () => {
    const call = service.call(newUser());
    const items = [{ content: '李明对花生过敏，点餐要避开花生酱。' }, { content: 'The ferry to Skye leaves at noon.' }];
    const { results } = await service.memory.write({ items, wait: true }, call);
    for (const queries of [
      ['他不能吃什么', 'When does the boat to the island go?'],
      ['When does the boat to the island go?', '他不能吃什么'],
    ]) {
      const { hits, degraded } = await service.memory.search({ queries, explain: true }, call);
      expect(degraded).to.deep.equal([]);
      expect(hits.map(({ memory_id: id }) => id)).to.have.members(results.map(({ memory_id: id }) => id));
      const best = (at: number) =>
        hits
          .find(({ memory_id: id }) => id === results[at]?.memory_id)
          ?.explain?.signals.find(({ signal, raw }) => signal.startsWith('vector') && raw !== null);
      expect(best(0)?.signal, queries[0]).to.equal('vector_other');
      expect(best(1)?.signal, queries[0]).to.equal('vector');
    }
  });

  it('brings the turns around a hit, and only those of its session', async () => {
    const call = service.call(newUser());
    const say = (turn: number, content: string, session = 's1') => ({ content, session_id: session, turn, admission: 'keep' as const });
    const items = [
      say(0, 'Shall we plan the trip?'),
      say(1, 'Which island do you like best?'),
      say(2, 'Skye, because of the hills.'),
      say(3, 'Then I book the ferry.'),
      say(1, 'Another talk altogether.', 's2'),
    ];
    await service.memory.write({ items, wait: true }, call);
    const { hits } = await service.memory.search({ query: 'Skye hills', neighbours: 1, top_k: 1 }, call);
    expect(hits[0]?.neighbours?.map(({ turn, content }) => [turn, content])).to.deep.equal([
      [1, 'Which island do you like best?'],
      [3, 'Then I book the ferry.'],
    ]);
  });

  it('follows a memory through the query: its place behind the candidates, its conditions and its parts', async () => {
    const call = service.call(newUser());
    const items = Array.from({ length: 22 }, (_, i) => ({
      content: `Note ${i}: the red kettle number ${i * 37} stands in kitchen ${i}.`,
      admission: 'keep' as const,
    }));
    const odd = { content: 'The lawyer moved to Lyon.', tags: ['people'], admission: 'keep' as const };
    const { results } = await service.memory.write({ items: [...items, odd], wait: true }, call);
    const id = results.at(-1)?.memory_id ?? '';
    const ask = async (more: object) =>
      (await service.memory.search({ query: 'Where does the red kettle stand?', why_not: [id], ...more }, call)).why_not?.[0];
    const told = await ask({});
    expect(told).to.include({ outcome: 'candidates', engine_rank: 23 });
    expect(told?.signals?.find(({ signal }) => signal === 'vector')?.raw).to.be.within(-1, 1);
    expect((await ask({ filter: { tags: ['things'], kind: ['fact'] } }))?.conditions).to.include('tags');
    expect(await ask({ filter: { tags: ['people'] }, min_score: 0.9 })).to.include({ outcome: 'min_score', rank: 1 });
    const other = await service.memory.search({ query: 'red kettle', why_not: [id] }, service.call(newUser()));
    expect(other.why_not?.map(({ outcome }) => outcome)).to.deep.equal(['unknown']);
  });
});
