import { expect } from 'chai';
import { INSTRUCTIONS } from '../http/support/instructions.ts';
import { ANN, connectClient, send, startMcp, type McpServer } from './support/mcp-server.ts';
import { modern, modernHeaders } from './support/modern-request.ts';

describe('mcp/prompts', () => {
  let server: McpServer;
  beforeEach(async () => {
    server = await startMcp();
  });
  afterEach(() => server.close());

  const ask = (body: Record<string, unknown>, token = ANN) => send(server, body, { token, headers: modernHeaders(body) });
  const NAME = 'memory_instructions';

  it('offer the instructions in both languages to the older clients', async () => {
    const client = await connectClient(server, ANN);
    expect(client.getServerCapabilities()).to.have.property('prompts');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).to.deep.equal([NAME]);
    expect(prompts[0]?.arguments).to.deep.equal([{ name: 'lang', description: 'zh or en; en by default', required: false }]);
    for (const lang of ['zh', 'en'] as const) {
      const { description, messages } = await client.getPrompt({ name: NAME, arguments: { lang } });
      expect(description).to.equal(INSTRUCTIONS[lang].title);
      expect(messages).to.deep.equal([{ role: 'user', content: { type: 'text', text: INSTRUCTIONS[lang].text } }]);
    }
    expect((await client.getPrompt({ name: NAME })).description).to.equal(INSTRUCTIONS.en.title);
    await client.close();
  });

  it('are the same on the 2026-07-28 leg, never cached for another caller', async () => {
    const listed = (await ask(modern('prompts/list'))).message['result'];
    expect(listed).to.include({ resultType: 'complete', cacheScope: 'private' });
    const older = await send(server, { jsonrpc: '2.0', id: 1, method: 'prompts/list' });
    expect(listed.prompts).to.deep.equal(older.message['result'].prompts);
    const got = (await ask(modern('prompts/get', { name: NAME, arguments: { lang: 'zh' } }))).message['result'];
    expect(got.messages[0].content.text).to.equal(INSTRUCTIONS.zh.text);
  });

  it('refuse an unknown name, a language that is not there and an argument that is not known', async () => {
    for (const params of [
      { name: 'other' },
      { name: NAME, arguments: { lang: 'fr' } },
      { name: NAME, arguments: { tenant: 'globex' } },
      { name: NAME, arguments: 'zh' },
    ]) {
      const older = await send(server, { jsonrpc: '2.0', id: 1, method: 'prompts/get', params });
      expect(older.message['error'].code, JSON.stringify(params)).to.equal(-32602);
      const newer = await ask(modern('prompts/get', params));
      expect([newer.status, newer.message['error'].code], JSON.stringify(params)).to.deep.equal([400, -32602]);
    }
  });

  it('count against the limit of their operation', async () => {
    server.refusing = NAME;
    const refused = await send(server, { jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: NAME } });
    expect(refused.message['error']).to.deep.include({ code: -32603, message: 'Too many calls; try again in 7 s' });
    expect((await ask(modern('prompts/get', { name: NAME }))).status).to.equal(429);
  });

  it('carry the prefix of the tools', async () => {
    const prefixed = await startMcp({ toolPrefix: 'team.' });
    const listed = await send(prefixed, { jsonrpc: '2.0', id: 1, method: 'prompts/list' });
    expect(listed.message['result'].prompts[0].name).to.equal(`team.${NAME}`);
    await prefixed.close();
  });
});
