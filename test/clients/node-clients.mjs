/** The TypeScript clients, version 2 and the SDK's of version 1, and mcp-remote as a bridge: one line for each check, as run-clients.mjs counts them. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { MCP_URL, SSE_URL, TOKEN, READER, MAIN, MODULES } = process.env;
/** Not a dependency of this package: install-clients.mjs has put it elsewhere. */
const CLIENT = '@modelcontextprotocol/client';
const load = createRequire(join(MODULES, 'here.cjs'));
const v2 = load(CLIENT);
const { StdioClientTransport: StdioV2 } = load(`${CLIENT}/stdio`);

const NOTE = 'Ana keeps the spare kettle on the second floor.';
const WRITING = ['memory_write', 'memory_update', 'memory_forget'];
/** What every prompt of a client carries, at most. */
const LIST_BYTES = 8_000;
const ATTEMPT_MS = 40_000;
const LEGACY = ['2025-11-25', '2025-06-18'];
const MODERN = ['2026-07-28'];

const headers = (token = TOKEN) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const stdio = { command: process.execPath, args: [MAIN, 'mcp'], env: { HINDSIGHT_URL: MCP_URL, HINDSIGHT_TOKEN: TOKEN }, stderr: 'ignore' };
const remote = {
  command: process.execPath,
  args: [
    join(MODULES, 'mcp-remote', 'dist', 'proxy.js'),
    MCP_URL,
    '--allow-http',
    '--transport',
    'http-only',
    '--header',
    // without a blank: desktop clients cut arguments there
    `Authorization:Bearer ${TOKEN}`,
  ],
  env: { ...process.env },
  stderr: 'ignore',
};

function report(title, check, holds, facts = '') {
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${title}: ${check} ${holds && typeof facts !== 'object' ? facts : ''}`.trimEnd());
  if (!holds) console.log(`       ${JSON.stringify(facts)?.slice(0, 600)}`);
}

async function attempt(title, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done in ${ATTEMPT_MS} ms`)), ATTEMPT_MS);
  });
  try {
    await Promise.race([work((check, holds, facts) => report(title, check, holds, facts)), late]);
  } catch (error) {
    console.log(`FAILED ${title}: ${error.constructor.name}: ${String(error.message).slice(0, 300)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** What each client does once it is connected. */
async function use(check, client) {
  check('server', client.getServerVersion()?.name === 'hindsight-es', client.getServerVersion()?.version);
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  check('tools are listed', names.includes('memory_write') && names.includes('memory_search'), names.join(', '));
  check('every tool has an output schema and all four hints', tools.every(describesItself), tools);
  const bytes = Buffer.byteLength(JSON.stringify({ tools }));
  check('the list is at most 8 kB', bytes <= LIST_BYTES, bytes);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const written = await call('memory_write', {
    content: `${NOTE} Its number is ${1_000 + Math.floor(Math.random() * 9_000)}.`,
    wait: true,
  });
  const id = written.structuredContent?.results?.[0]?.memory_id;
  check('write', id !== undefined, written);
  const found = await call('memory_search', { query: 'spare kettle' });
  check('search finds it', JSON.stringify(found.structuredContent?.hits ?? []).includes('kettle'), found);
  check('the text says the same as the structure', found.content[0].text === JSON.stringify(found.structuredContent), found);
  const got = await call('memory_get', { memory_id: id });
  check('get', got.structuredContent?.memory_id === id, got);
  check('a fault is a result with isError', (await call('memory_get', { memory_id: 'none' })).isError === true);
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts[0].name, arguments: { lang: 'zh' } });
  check('prompts', /[\u4e00-\u9fff]/.test(prompt.messages[0].content.text), prompt);
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const describesItself = ({ outputSchema, annotations = {} }) =>
  outputSchema?.type === 'object' && HINTS.every((hint) => typeof annotations[hint] === 'boolean');

function version2(title, makeTransport, mode, versions, capabilities = {}) {
  return attempt(title, async (check) => {
    const options = { capabilities, ...(mode === undefined ? {} : { versionNegotiation: { mode } }) };
    const client = new v2.Client({ name: 'v2', version: '1' }, options);
    await client.connect(makeTransport());
    const spoken = client.getNegotiatedProtocolVersion?.();
    check('connect', versions.includes(spoken), spoken);
    await use(check, client);
    await client.close();
  });
}

function version1(title, transport, capabilities = {}) {
  return attempt(title, async (check) => {
    const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities });
    await client.connect(transport);
    await use(check, client);
    await client.close();
  });
}

const http2 = (token) => new v2.StreamableHTTPClientTransport(new URL(MCP_URL), headers(token));
await version2('typescript client 2 http', () => http2(), undefined, LEGACY);
await version2('typescript client 2 http auto', () => http2(), 'auto', MODERN);
await version2('typescript client 2 http pinned', () => http2(), { pin: '2026-07-28' }, MODERN);
await version2('typescript client 2 http with elicitation', () => http2(), undefined, LEGACY, { elicitation: { form: {} } });
await version2('typescript client 2 sse', () => new v2.SSEClientTransport(new URL(SSE_URL), headers()), undefined, LEGACY);
await version2('typescript client 2 stdio', () => new StdioV2(stdio), undefined, LEGACY);
await version2('typescript client 2 stdio auto', () => new StdioV2(stdio), 'auto', MODERN);
await version2('mcp-remote', () => new StdioV2(remote), undefined, LEGACY);
await version1('typescript sdk 1 http', new HttpV1(new URL(MCP_URL), headers()));
await version1('typescript sdk 1 http with elicitation', new HttpV1(new URL(MCP_URL), headers()), { elicitation: {} });
await version1('typescript sdk 1 sse', new SseV1(new URL(SSE_URL), headers()));
await version1('typescript sdk 1 stdio', new StdioV1(stdio));

await attempt('typescript client 2 with a token that may only read', async (check) => {
  const client = new v2.Client({ name: 'v2', version: '1' });
  await client.connect(http2(READER));
  const names = (await client.listTools()).tools.map(({ name }) => name);
  check('only reading tools are listed', names.length > 0 && !names.some((name) => WRITING.includes(name)), names.join(', '));
  const refused = await client.callTool({ name: 'memory_write', arguments: { content: NOTE } });
  check(
    'a call of another tool is refused in words',
    refused.isError === true && refused.content[0].text.includes('memory:write'),
    refused,
  );
  await client.close();
});
await attempt('typescript client 2 without a token', async (check) => {
  const client = new v2.Client({ name: 'v2', version: '1' });
  const refused = await client.connect(new v2.StreamableHTTPClientTransport(new URL(MCP_URL))).then(
    () => undefined,
    (error) => error,
  );
  check('is turned away', refused !== undefined, String(refused?.message).slice(0, 100));
  const metadata = await v2.discoverOAuthProtectedResourceMetadata(MCP_URL);
  check('finds the resource metadata', metadata.resource === MCP_URL && metadata.scopes_supported.join() === 'memory:read', metadata);
});
process.exit(0);
