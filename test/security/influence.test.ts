/** G6, G11, G12 (guard.md): contradictions are told by distinct origins, copies never win, and influence_only leaves what two origins or a person vouch for. */
import { expect } from 'chai';
import { startHashedService, type HashedService } from '../support/service.ts';

interface Hit {
  readonly memory_id: string;
  readonly content: string;
  readonly trust: { readonly tier: string };
  readonly reference_only: boolean;
  readonly explain?: { readonly signals: readonly { readonly signal: string; readonly sentence: string }[] };
}

const SCOPES = ['memory:read', 'memory:write', 'memory:share'];
const namespace = 'team.ops';

describe('contradictions and corroboration', function () {
  this.timeout(120_000);
  let service: HashedService;
  let person: string;
  const agents: string[] = [];

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    person = await service.mint({ sub: 'ann', scopes: SCOPES, namespaces: ['team.**'] });
    for (const sub of ['bot1', 'bot2', 'bot3', 'bot4'])
      agents.push(await service.mint({ sub, actor: 'agent', scopes: SCOPES, namespaces: ['team.**'] }));
  });
  after(() => service.close());

  const write = async (token: string, ...contents: { content: string }[]): Promise<void> => {
    const items = contents.map((item) => ({ namespace, visibility: 'shared', admission: 'keep', ...item }));
    const { status, body } = await service.call('POST', '/v1/memories', token, { items });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(new Set(body.results.map(({ outcome }: { outcome: string }) => outcome))).to.deep.equal(new Set(['stored']));
  };
  const search = async (query: string, more: object = {}): Promise<readonly Hit[]> => {
    const input = { query, namespaces: [namespace], explain: true, ...more };
    const { status, body } = await service.call('POST', '/v1/memories/search', person, input);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.hits;
  };
  const why = (hit: Hit | undefined, name: string): string | undefined =>
    hit?.explain?.signals.find(({ signal }) => signal === name)?.sentence;
  const claim = (
    subject: string,
    colour: string,
    i = 0,
  ): { content: string; subject: string; topic: string; kind: string; source: object } => ({
    content: `The ${subject}${','.repeat(i % 5)} ${i % 2 === 0 ? 'the ' : ''}colour of it is ${colour}`,
    subject,
    topic: 'colour',
    kind: 'fact',
    source: { type: 'tool' },
  });
  const [first = '', second = '', third = '', fourth = ''] = [0, 1, 2, 3].map((i) => `${i}`);
  const bot = (i: string): string => agents[Number(i)] ?? '';

  it('G6: 50 copies from one origin never win against what two origins say at the same tier', async () => {
    await write(bot(first), ...Array.from({ length: 50 }, (_x, i) => claim('harbour crane', 'red', i)));
    await write(bot(second), claim('harbour crane', 'blue'));
    await write(bot(third), claim('harbour crane', 'blue', 3));
    const hits = await search('harbour crane the colour of it is red');
    expect(hits[0]?.content).to.include('blue');
    expect(why(hits[0], 'consensus')).to.equal('Memories of this subject and topic differ; 2 of 3 origins say this');
    const red = hits.filter(({ content }) => content.includes('red'));
    expect(red.map((hit) => why(hit, 'consensus'))).to.deep.equal(
      red.map(() => 'Memories of this subject and topic differ; 1 of 3 origins say this'),
    );
  });

  it('G6: without a majority both come back, flagged, and none is picked', async () => {
    await write(bot(first), ...Array.from({ length: 9 }, (_x, i) => claim('pilot boat', 'green', i)));
    await write(bot(fourth), claim('pilot boat', 'white'));
    const hits = await search('pilot boat colour');
    const told = hits.slice(0, 2);
    expect(told.map(({ content }) => /green|white/.exec(content)?.[0]).sort()).to.deep.equal(['green', 'white']);
    for (const hit of told) expect(why(hit, 'consensus')).to.equal('Memories of this subject and topic differ; 1 of 2 origins say this');
  });

  it('G11: what a person states comes before what three origins say', async () => {
    for (const i of [first, second, third]) await write(bot(i), claim('customs shed', 'yellow', Number(i)));
    const { source: _tool, ...stated } = claim('customs shed', 'grey');
    await write(person, stated);
    const hits = (await search('customs shed the colour of it is yellow', { top_k: 20 })).filter(({ content }) =>
      content.includes('customs shed'),
    );
    expect(hits.length).to.be.at.least(2);
    expect(hits[0]?.content).to.include('grey');
    expect(hits[0]).to.include({ reference_only: false });
  });

  it('influence_only leaves what two origins say or a person confirmed, and says why', async () => {
    const tool = { source: { type: 'tool' } };
    await write(
      bot(first),
      ...Array.from({ length: 12 }, (_x, i) => ({ content: `The lighthouse keeper sleeps until ${i + 1}`, ...tool })),
    );
    await write(bot(first), { content: '灯塔看守人夜里值班', ...tool });
    await write(bot(second), { content: '灯塔看守人夜里值班。', ...tool });
    await write(bot(third), { content: 'The lighthouse keeper is called Ines', ...tool });
    await write(bot(fourth), { content: 'the lighthouse keeper is called Ines.', ...tool });
    const english = await search('lighthouse keeper', { influence_only: true });
    const keepers = english.filter(({ content }) => /keeper/i.test(content));
    expect(keepers.map(({ content }) => /⟧(.*)⟦/.exec(content)?.[1]?.toLowerCase().replace(/\.$/, ''))).to.deep.equal([
      'the lighthouse keeper is called ines',
    ]);
    expect(why(keepers[0], 'corroboration')).to.equal('2 origins say this in the same words');
    expect(keepers[0]).to.include({ reference_only: true });
    expect((await search('灯塔看守人', { influence_only: true })).filter(({ content }) => content.includes('夜里值班'))).to.have.length(1);
    expect((await search('lighthouse keeper', { top_k: 20 })).length).to.be.above(10);
  });

  it('trust_floor leaves out what is less trusted, whatever the score', async () => {
    await write(bot(first), { content: 'The ferry ticket costs nine' });
    await write(person, { content: 'Ferry tickets are sold on board, said the captain' });
    const hits = await search('the ferry ticket costs nine', { trust_floor: 'user_stated', top_k: 20 });
    expect(hits.map(({ trust }) => trust.tier)).to.deep.equal(hits.map(() => 'user_stated'));
    expect(hits.some(({ content }) => content.includes('captain'))).to.equal(true);
  });
});
