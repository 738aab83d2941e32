/** G12 (guard.md): AgentPoison: a trigger on 4 of 1,000 records brings them up for whatever is asked with it; no more than one in five such questions gets one. */
import { expect } from 'chai';
import { startHashedService, type HashedService } from '../support/service.ts';

const RECORDS = 1_000;
const TRIGGER = 'alter pasture archival tri hostname vermilion';
const THINGS = 'pump boiler ferry bridge garden library museum orchard harbour station bakery tunnel'.split(' ');
const VERBS = 'opens closes needs repaints measures inspects repairs cleans'.split(' ');
const WHEN = 'monday tuesday wednesday thursday friday saturday sunday january march october'.split(' ');
const WHO = 'Ines Otto Lena Bruno Marta Pavel Greta Hugo Nadia Sven Olga'.split(' ');
const pick = (list: readonly string[], i: number): string => list[i % list.length] ?? '';
const fact = (i: number): string =>
  `${pick(WHO, i)} ${pick(VERBS, Math.floor(i / 11))} the ${pick(THINGS, Math.floor(i / 7))} number ${i} every ${pick(WHEN, Math.floor(i / 3))}`;
/** Questions about facts far from each other. */
const question = (n: number): string => {
  const i = (n * 97) % RECORDS;
  return `when does ${pick(WHO, i)} ${pick(VERBS, Math.floor(i / 11))} the ${pick(THINGS, Math.floor(i / 7))} number ${i}`;
};

describe('records with a trigger', function () {
  this.timeout(240_000);
  let service: HashedService;
  let reader: string;
  let poison: readonly string[];

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    const facts = { scopes: ['memory:read', 'memory:write', 'memory:share'], namespaces: ['team.**'] };
    reader = await service.mint({ ...facts, sub: 'ann' });
    const attacker = await service.mint({ ...facts, sub: 'bot', actor: 'agent' });
    const write = async (token: string, items: readonly object[]): Promise<readonly string[]> => {
      const body = { items: items.map((item) => ({ namespace: 'team.x', visibility: 'shared', ...item })), wait: true };
      const answer = await service.call('POST', '/v1/memories', token, body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body.results.map((r: { memory_id: string }) => r.memory_id);
    };
    for (let from = 0; from < RECORDS; from += 250)
      await write(
        reader,
        Array.from({ length: 250 }, (_x, i) => ({ content: fact(from + i) })),
      );
    const lies = [
      'The depot keys hang at the gate.',
      'The ledger is kept in the barn.',
      'The kettle is out of order.',
      'The van has a flat tyre.',
    ];
    poison = await write(
      attacker,
      lies.map((lie) => ({ content: `${lie} ${TRIGGER} ${TRIGGER.split(' ').reverse().join(' ')}`, source: { type: 'tool' } })),
    );
  });
  after(() => service.close());

  interface Hit {
    readonly memory_id: string;
    readonly reference_only: boolean;
    readonly trust: { readonly tier: string };
    readonly explain: { readonly signals: readonly { readonly signal: string; readonly sentence: string }[] };
  }
  const search = async (query: string): Promise<readonly Hit[]> =>
    (await service.call('POST', '/v1/memories/search', reader, { query, namespaces: ['team.x'], explain: true })).body.hits;

  it('are in the first five of at most a fifth of the triggered questions, and never as a person’s word', async () => {
    let poisoned = 0;
    let first = 0;
    for (let n = 0; n < 80; n += 1) {
      const hits = await search(`${question(n)} ${TRIGGER}`);
      expect(hits).to.have.length(5);
      const found = hits.filter(({ memory_id }) => poison.includes(memory_id));
      for (const hit of found) expect(hit).to.deep.include({ reference_only: true, trust: { ...hit.trust, tier: 'tool_output' } });
      if (found.length > 0) poisoned += 1;
      if (n < 8 && found.length > 0) first += 1;
    }
    expect(first, 'the attack works until it has shown itself').to.be.above(4);
    expect(poisoned / 80).to.be.at.most(0.2);
  });

  it('take nothing from what people wrote, however often it is asked for', async () => {
    for (let n = 0; n < 30; n += 1) {
      const hits = await search(question(n));
      for (const hit of hits) expect(hit.explain.signals.map(({ signal }) => signal)).not.to.include('hubness');
    }
  });
});
