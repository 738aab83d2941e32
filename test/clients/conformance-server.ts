/** The service's own HTTP server and MCP legs with the conformance suite's fixtures behind them; prints the port, ends with stdin. Tests only. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  ResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { INSTRUCTIONS, serverInfo } from '../../src/mcp/about.ts';
import { RpcRefusal } from '../../src/mcp/modern-request.ts';
import { ANN, startMcp } from '../unit/mcp/support/mcp-server.ts';
import {
  askingPrompt,
  fixtureTools,
  modernFixtureTools,
  prompts,
  readResource,
  resources,
  templates,
  type AskAll,
  type FixtureTool,
} from './conformance-fixtures.ts';

const info = serverInfo('0.0.0');
const listing = ({ name, description, inputSchema }: FixtureTool) => ({ name, description, inputSchema });
const fault = (code: number, message: string): Error => Object.assign(new Error(message), { code });

function createFixtureServer(): Server {
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} };
  const server = new Server(info, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: fixtureTools.map(listing) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = fixtureTools.find(({ name }) => name === params.name);
    if (tool === undefined) throw fault(-32602, 'Unknown tool');
    const token = extra._meta?.progressToken;
    return tool.run({
      args: (params.arguments ?? {}) as Record<string, string>,
      log: (data) => extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } }),
      progress: async (progress, total) => {
        if (token !== undefined)
          await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress, total } });
      },
      askAll: async () => Promise.reject(new Error('not on this leg')),
      can: () => false,
      ask: (method, asked) => extra.sendRequest({ method, params: asked }, ResultSchema),
    });
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: templates }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const found = readResource(uri);
    if (found === undefined) throw fault(-32002, 'Resource not found');
    return { contents: [found] };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: prompts.map((prompt) => prompt.listing) }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const found = prompts.find((prompt) => prompt.listing.name === params.name);
    if (found === undefined) throw fault(-32602, 'Unknown prompt');
    return { messages: found.messages(params.arguments ?? {}) };
  });
  server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return server;
}

const modernTools = [...modernFixtureTools, ...fixtureTools.filter(({ name }) => name === 'test_simple_text')];
const server = await startMcp({
  createServer: createFixtureServer,
  modernServer: {
    info,
    instructions: INSTRUCTIONS,
    listTools: () => modernTools.map(listing),
    listPrompts: () => [askingPrompt.listing],
    getPrompt: async ({ name }, _caller, inputs) => {
      if (name !== askingPrompt.listing.name) throw new RpcRefusal(400, -32602, 'Unknown prompt');
      return askingPrompt.get((questions) => inputs.ask(questions));
    },
    callTool: async ({ name }, _caller, inputs, meta) => {
      const tool = modernTools.find((one) => one.name === name);
      if (tool === undefined) throw new RpcRefusal(400, -32602, 'Unknown tool');
      const capabilities = meta['io.modelcontextprotocol/clientCapabilities'] as Readonly<Record<string, unknown>>;
      if (name === 'test_missing_capability' && capabilities['sampling'] === undefined)
        throw new RpcRefusal(400, -32021, 'Missing required client capability', { requiredCapabilities: { sampling: {} } });
      const nothing = async (): Promise<never> => Promise.reject(new Error('not on this leg'));
      const askAll: AskAll = (questions) => inputs.ask(questions);
      const can = (capability: string): boolean => capabilities[capability] !== undefined;
      return tool.run({ args: {}, log: nothing, progress: nothing, ask: nothing, askAll, can });
    },
  },
});
process.stdout.write(`${JSON.stringify({ port: server.url.port, token: ANN })}\n`);
process.stdin.resume().once('end', () => {
  void server.close().then(() => process.exit(0));
});
