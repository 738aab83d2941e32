/** N5, M1, L2, G8 (guard.md): what a person began is not their agent's to end, nor one agent's another's; and an agent takes few of a person's memories away, never many. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const SCOPES = ['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:confirm', 'memory:audit'];
const YES: ElicitResult = { action: 'accept', content: { confirm: true } };

describe('actors of one person', function () {
  this.timeout(120_000);
  let service: HashedService;
  let person: string;
  let desk: string;
  let agent: string;
  let otherAgent: string;

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench', MCP_TOOLS: 'all' });
    person = await service.mint({ scopes: SCOPES });
    desk = await service.mint({ scopes: SCOPES, clientId: 'desk' });
    agent = await service.mint({ actor: 'agent', scopes: SCOPES, clientId: 'desk' });
    otherAgent = await service.mint({ actor: 'agent', scopes: SCOPES, clientId: 'phone' });
  });
  after(() => service.close());

  const ok = async (method: string, path: string, token: string, body?: object) => {
    const answer = await service.call(method, path, token, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  };
  const write = async (token: string, content: string, topic: string): Promise<string> =>
    (await ok('POST', '/v1/memories', token, { content, tags: [topic], admission: 'keep', wait: true })).results[0].memory_id;
  const statusOf = async (id: string): Promise<string> => (await service.call('GET', `/v1/memories/${id}`, person)).body.status ?? 'gone';
  const dryRun = (token: string, tag: string) => ok('POST', '/v1/memories/forget', token, { filter: { tags: [tag] }, dry_run: true });
  const carryOut = (token: string, plan: string): Promise<Answer> => service.call('POST', '/v1/memories/forget', token, { plan });

  it('N5: a cursor and a forget plan serve the actor alone for whom they were made, and a plan the client', async () => {
    for (let i = 0; i < 3; i += 1) await write(person, `The number ${i} tram turns at the gate.`, 'tram');
    const filter = 'tags=tram&limit=1';
    const cursors = await Promise.all([person, agent].map(async (token) => (await ok('GET', `/v1/memories?${filter}`, token)).next_cursor));
    for (const [i, token] of [agent, person].entries())
      expect((await service.call('GET', `/v1/memories?${filter}&cursor=${cursors[i]}`, token)).body.code).to.equal('ERR_CURSOR_INVALID');
    // another token of the same actor goes on where it was
    expect((await ok('GET', `/v1/memories?${filter}&cursor=${cursors[0]}`, await service.mint({ scopes: SCOPES }))).items).to.have.length(
      1,
    );
    for (const [maker, taker] of [
      [person, agent],
      [agent, person],
      [agent, otherAgent],
      [desk, person],
    ] as const) {
      const { plan } = await dryRun(maker, 'tram');
      expect((await carryOut(taker, plan)).body.code).to.equal('ERR_PLAN_INVALID');
    }
    const { plan } = await dryRun(desk, 'tram');
    const again = await service.mint({ scopes: SCOPES, clientId: 'desk' });
    expect((await carryOut(again, plan)).body.forgotten).to.equal(3);
  });

  it('G7: an Idempotency-Key of a person repeats no call of their agent: what a person states is stored as theirs', async () => {
    const item = { content: 'Lena keeps the spare key in the blue jar.', admission: 'keep' };
    const send = async (token: string): Promise<{ memory_id: string; outcome: string }> => {
      const answer = await service.call('POST', '/v1/memories', token, item, { 'idempotency-key': 'spare-key-1' });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body.results[0];
    };
    const [noted, again, stated] = [await send(agent), await send(agent), await send(person)];
    expect(again.memory_id).to.equal(noted.memory_id);
    expect(stated.memory_id).to.not.equal(noted.memory_id);
    expect((await ok('GET', `/v1/memories/${stated.memory_id}`, person)).trust.tier).to.equal('user_stated');
  });

  it('M1: a session serves the actor and the client that began it, also with a newer token', async () => {
    const send = (token: string, body: object, session?: string): Promise<Response> =>
      fetch(new URL('/mcp', service.url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      });
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'x', version: '1' } };
    const began = await send(agent, { method: 'initialize', params });
    await began.text();
    const session = began.headers.get('mcp-session-id') ?? '';
    expect(session).to.have.length.above(20);
    const statuses: number[] = [];
    for (const token of [person, desk, otherAgent, await service.mint({ actor: 'agent', scopes: SCOPES, clientId: 'desk' })]) {
      const answer = await send(token, { method: 'tools/list' }, session);
      await answer.text();
      statuses.push(answer.status);
    }
    expect(statuses).to.deep.equal([404, 404, 404, 200]);
  });

  it('L2, G8: of many at once an agent forgets what is no more trusted than its own words, and names the rest', async () => {
    const [stated, noted] = [
      await write(person, 'Ines likes the early ferry.', 'ferry'),
      await write(agent, 'The ferry has a cafe.', 'ferry'),
    ];
    const dry = await dryRun(agent, 'ferry');
    expect(dry).to.include({ count: 2, needs_person: 1 });
    const { body } = await carryOut(agent, dry.plan);
    expect(body).to.deep.include({ forgotten: 1, memory_ids: [noted] });
    expect(body.skipped.map(({ memory_id }: { memory_id: string }) => memory_id)).to.deep.equal([stated]);
    expect(body.skipped[0].reason).to.contain('more trusted');
    expect(await statusOf(stated)).to.equal('active');
    // a query is no way round it
    const asked = await ok('POST', '/v1/memories/forget', agent, { query: 'Ines likes the early ferry', min_score: 0, dry_run: true });
    expect((await carryOut(agent, asked.plan)).body.memory_ids).to.not.include(stated);
    expect(await statusOf(stated)).to.equal('active');
    // the person's own call needs nobody's yes
    const own = await dryRun(person, 'ferry');
    expect(own).to.not.have.property('needs_person');
    expect((await carryOut(person, own.plan)).body.memory_ids).to.deep.equal([stated]);
  });

  it('L2: a yes of the user in the client’s session carries a whole plan out, a no carries out nothing', async () => {
    const stated = await write(person, 'Jonas keeps the boat at pier nine.', 'pier');
    const forget = async (answer: ElicitResult) => {
      const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        // nobody agrees to more than they were told, whatever the agent showed
        expect(params.message).to.match(/^Forget 1 memory, .*忘掉 1 条/);
        return answer;
      });
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit: { headers: { authorization: `Bearer ${agent}` } } }),
      );
      const { plan } = (await client.callTool({ name: 'memory_forget', arguments: { filter: { tags: ['pier'] }, dry_run: true } }))
        .structuredContent as { plan: string };
      const done = await client.callTool({ name: 'memory_forget', arguments: { plan } });
      await client.close();
      return done;
    };
    expect((await forget({ action: 'decline' })).isError).to.equal(true);
    expect(await statusOf(stated)).to.equal('active');
    expect((await forget(YES)).structuredContent).to.deep.include({ forgotten: 1, memory_ids: [stated] });
    expect(await statusOf(stated)).to.not.equal('active');
  });

  it('L3: one by one an agent forgets what its user stated, and it comes back by id', async () => {
    const stated = await write(person, 'Karla feeds the gulls on Sundays.', 'gulls');
    expect((await ok('DELETE', `/v1/memories/${stated}`, agent)).forgotten).to.equal(1);
    expect((await ok('POST', `/v1/memories/${stated}/restore`, person, {})).outcome).to.equal('restored');
    expect((await ok('GET', `/v1/memories/${stated}`, agent)).trust.tier).to.equal('user_stated');
  });
});
