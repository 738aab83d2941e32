import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { expect } from 'chai';
import { Session } from '../../../src/mcp/session.ts';
import { createSessionTable } from '../../../src/mcp/session-table.ts';
import type { SessionClient } from '../../../src/mcp/session-id.ts';

const CLIENT: SessionClient = { protocolVersion: '2025-11-25', elicitation: { form: true, url: false }, name: 'test', version: '1' };
const createServer = (): Server => new Server({ name: 'test', version: '1' }, { capabilities: {} });

async function restored(): Promise<Session> {
  const session = new Session('some-id', createServer(), 0, () => undefined);
  await session.ready;
  await session.restore(CLIENT);
  return session;
}

const post = (session: Session, message: object): Promise<Response> =>
  session.transport.handleRequest(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-session-id': 'some-id' },
    }),
    { parsedBody: { jsonrpc: '2.0', ...message } },
  );

/** What the SDK keeps of requests, by its private names: they are checked so that a rename shows here. */
function kept(session: Session): number[] {
  return ['_streamMapping', '_requestToStreamMapping', '_requestResponseMap'].map((name) => {
    const map = (session.transport as unknown as Record<string, unknown>)[name];
    expect(map, name).to.be.instanceOf(Map);
    return (map as Map<unknown, unknown>).size;
  });
}

describe('mcp/session', () => {
  it('keeps nothing of requests that were answered', async () => {
    const session = await restored();
    for (let id = 0; id < 200; id += 1) {
      expect(session.begin(id)).to.not.equal(undefined);
      expect(await (await post(session, { id, method: 'ping' })).text()).to.contain('"result":{}');
      expect(session.begin(id), 'free again').to.not.equal(undefined);
      session.forgetRunning(id);
    }
    expect(kept(session)).to.deep.equal([0, 0, 0]);
  });

  it('keeps nothing of requests that were cancelled', async () => {
    const server = createServer();
    const session = new Session('some-id', server, 0, () => undefined);
    await session.ready;
    await session.restore(CLIENT);
    for (let id = 0; id < 50; id += 1) {
      const running = session.begin(id);
      server.fallbackRequestHandler = () => new Promise((resolve) => running?.signal.addEventListener('abort', () => resolve({})));
      const answer = await post(session, { id, method: 'slow' });
      session.cancel(id);
      expect(await answer.text()).to.equal('');
    }
    expect(kept(session)).to.deep.equal([0, 0, 0]);
  });

  it('knows again what the client can be asked', async () => {
    const server = createServer();
    const session = new Session('some-id', server, 0, () => undefined);
    await session.ready;
    await session.restore({ ...CLIENT, elicitation: { form: true, url: true } });
    expect(server.getClientCapabilities()?.elicitation).to.deep.equal({ form: {}, url: {} });
    expect(server.getClientVersion()).to.include({ name: 'test', version: '1' });
  });

  it('ends its running requests with itself', async () => {
    const session = await restored();
    const running = session.begin('a');
    await session.close();
    expect(running?.signal.aborted).to.equal(true);
  });
});

describe('mcp/session-table', () => {
  const table = (maxPerTenant: number) => {
    const made: Server[] = [];
    const counted = (): Server => {
      made.push(createServer());
      return made.at(-1) ?? createServer();
    };
    return { made, sessions: createSessionTable({ createServer: counted, clock: () => 0, maxPerTenant, idleMs: 1_000 }) };
  };

  it('brings a session back once, however many ask at the same time', async () => {
    const { made, sessions } = table(10);
    const got = await Promise.all(Array.from({ length: 20 }, () => sessions.acquire('t', 'id', CLIENT)));
    expect(new Set(got).size).to.equal(1);
    expect(made).to.have.length(1);
    await sessions.closeAll();
    expect(sessions.size).to.equal(0);
  });

  it('never holds more of a tenant than allowed, and leaves other tenants alone', async () => {
    const { sessions } = table(3);
    await sessions.acquire('other', 'id', CLIENT);
    for (let i = 0; i < 20; i += 1) await sessions.acquire('t', `id${i}`, CLIENT);
    expect(sessions.size).to.equal(4);
    const held = await Promise.all([17, 18, 19].map((i) => sessions.acquire('t', `id${i}`, CLIENT)));
    for (const session of held) if (session !== undefined) session.open = 1;
    expect(await sessions.acquire('t', 'one more', CLIENT)).to.equal(undefined);
    expect(sessions.size).to.equal(4);
    await sessions.closeAll();
  });

  it('ends the least recently used idle session first', async () => {
    const { sessions } = table(2);
    const a = await sessions.acquire('t', 'a', CLIENT);
    await sessions.acquire('t', 'b', CLIENT);
    await sessions.acquire('t', 'a', CLIENT);
    await sessions.acquire('t', 'c', CLIENT);
    expect(await sessions.acquire('t', 'a', CLIENT)).to.equal(a);
    await sessions.closeAll();
  });
});
