/** The SDK's own client over HTTP against the real gateway, guard and ranking; the index is the in-process one. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect } from 'chai';
import { createWorld } from '../support/memory-world.ts';
import { ANN, connectClient, EVE, startMcp, type McpServer } from '../unit/mcp/support/mcp-server.ts';

type Answer = Record<string, ReturnType<typeof JSON.parse>>;

describe('mcp over the real gateway', () => {
  let server: McpServer;
  const clients: Client[] = [];
  const connect = async (token: string, elicitation = false): Promise<(name: string, args: Record<string, unknown>) => Promise<Answer>> => {
    const client = await connectClient(server, token, elicitation);
    clients.push(client);
    // from now on the client checks each answer against the tool's output schema
    await client.listTools();
    return async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      const [{ text = '{}' } = {}] = result.content as { text?: string }[];
      return { ...(JSON.parse(text) as Answer), isError: result.isError === true };
    };
  };
  before(async () => {
    server = await startMcp({ gateway: createWorld().memory, tools: 'all' });
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  });

  for (const elicitation of [false, true]) {
    it(`remembers, finds, corrects and forgets ${elicitation ? 'with' : 'without'} a session`, async () => {
      const tool = await connect(ANN, elicitation);
      const written = await tool('memory_write', { content: '李明对花生过敏，点餐时要避开花生酱。', kind: 'constraint', wait: true });
      const [{ memory_id, outcome }] = written['results'];
      expect(outcome).to.be.oneOf(['stored', 'duplicate']);

      const found = await tool('memory_search', { query: '李明吃什么会过敏？', explain: true });
      expect(found['hits'][0]).to.include({ memory_id });
      expect(found['hits'][0].content).to.contain('花生');
      expect(found['hits'][0].explain.signals).to.not.have.length(0);

      const { version } = await tool('memory_get', { memory_id });
      const corrected = await tool('memory_update', { memory_id, version, content: '李明对花生和虾过敏。' });
      expect(corrected).to.include({ outcome: 'updated', version: (version as number) + 1 });
      const { versions } = await tool('memory_history', { memory_id });
      expect(versions).to.have.length((version as number) + 1);
      expect((await tool('memory_list', { limit: 5 }))['items'][0]).to.include({ memory_id });

      expect(await tool('memory_forget', { memory_id })).to.deep.include({ forgotten: 1, memory_ids: [memory_id], isError: false });
      expect((await tool('memory_search', { query: '李明吃什么会过敏？' }))['hits']).to.have.length(0);
    });
  }

  it('shows one tenant nothing of another, not even that it is there', async () => {
    const [ann, eve] = [await connect(ANN), await connect(EVE)];
    const [{ memory_id }] = (await ann('memory_write', { content: 'Ann keeps bees on the roof.', kind: 'fact', wait: true }))['results'];
    expect((await eve('memory_search', { query: 'Who keeps bees?' }))['hits']).to.have.length(0);
    const foreign = await eve('memory_get', { memory_id });
    const never = await eve('memory_get', { memory_id: '0197a1b2-c3d4-7e5f-8a9b-ffffffffffff' });
    expect(foreign).to.include({ isError: true, code: 'ERR_MEMORY_NOT_FOUND' });
    expect({ ...foreign, trace_id: '' }).to.deep.equal({ ...never, trace_id: '' });
    expect(await eve('memory_forget', { memory_id })).to.include({ isError: true, code: 'ERR_MEMORY_NOT_FOUND' });
    expect(await ann('memory_get', { memory_id })).to.include({ isError: false, memory_id });
  });
});
