/** The real HTTP server with the MCP front end on a free port; memory, tokens and limits behind it are test doubles, the clock is moved by hand. */
import { request as httpRequest } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { HindsightError } from '../../../../src/errors.ts';
import { createHttpServer } from '../../../../src/http/server.ts';
import { createMcpMount, type McpMount, type McpMountOptions } from '../../../../src/mcp/mount.ts';
import type { MemoryGateway } from '../../../../src/memory/gateway.ts';
import { operations } from '../../../../src/operations/index.ts';
import { createInvoke } from '../../../../src/operations/invoke.ts';
import { testAuditLog } from '../../../support/audit-store.ts';
import { principal } from '../../../support/principals.ts';
import { INSTRUCTIONS } from '../../http/support/instructions.ts';
import { memoryDouble, type MemoryDouble } from '../../http/support/memory-double.ts';

/** Agents: `tenant/sub`, then `/r` for a token that may only read, `/2` for a refreshed one, `/u` for the person themself; `/bad` is refused. */
export const ANN = 'acme/ann';
export const BOB = 'acme/bob';
export const EVE = 'globex/ann';

export const SESSION_KEY = Buffer.alloc(32, 7);
export const PUBLIC_URL = 'https://memory.example';

/** Parsed JSON whose shape the assertions check. */
type Json = Record<string, ReturnType<typeof JSON.parse>>;

export interface McpServerOptions extends Partial<McpMountOptions> {
  readonly gateway?: MemoryGateway;
  /** Seconds since the epoch at which every token ends. */
  readonly tokensEndAt?: number;
}

export interface McpServer {
  readonly url: URL;
  readonly mount: McpMount;
  readonly memory: MemoryDouble;
  readonly time: { nowMs: number };
  readonly logs: { level: string; message: string }[];
  /** Operation whose bucket is used up. */
  refusing: string | undefined;
  close(): Promise<void>;
}

export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON-RPC message of a JSON body, or of the only event in a stream. */
  readonly message: Json;
}

export async function startMcp(options: McpServerOptions = {}): Promise<McpServer> {
  const { gateway, tokensEndAt = 4_102_444_800, ...mountOptions } = options;
  const memory = memoryDouble();
  const time = { nowMs: Date.parse('2026-03-01T12:00:00.000Z') };
  const clock = (): number => time.nowMs;
  const logs: { level: string; message: string }[] = [];
  const log = (level: string) => (fields: object, message: string) => void logs.push({ level, message, ...fields });
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const limiter = {
    consume: async (_who: unknown, operation: string) => {
      if (server.refusing === operation) throw new HindsightError('ERR_RATE_LIMITED', { params: { seconds: 7 }, retryAfterSeconds: 7 });
      return { limit: 100, remaining: 99, resetSeconds: 30 };
    },
    coarse: async () => undefined,
  };
  const metrics = { operationDone: () => undefined, requestDone: () => undefined, contentType: 'text/plain', render: async () => '' };
  const parts = { instructions: INSTRUCTIONS, auditLog: testAuditLog(), limiter, clock, logger, metrics };
  const invoke = createInvoke({ memory: gateway ?? memory, ...parts });
  const mount = createMcpMount({
    operations,
    invoke,
    sessionKey: SESSION_KEY,
    clock,
    logger,
    version: '0.0.0',
    toolPrefix: '',
    tools: 'default',
    ...mountOptions,
  });
  const http = createHttpServer({
    operations,
    invoke,
    verifier: {
      verify: async (token) => {
        const [tenant = '', sub = '', kind] = token.split('/');
        if (sub === '' || kind === 'bad') throw new HindsightError('ERR_AUTH_INVALID');
        const scopes = kind === 'r' ? ['memory:read'] : ['memory:read', 'memory:write', 'memory:forget'];
        return { ...principal({ tenant, sub, scopes, actor: kind === 'u' ? 'user' : 'agent' }), expiresAt: tokensEndAt };
      },
      hold: () => () => undefined,
    },
    limiter,
    config: {
      hosts: ['127.0.0.1', 'localhost'],
      origins: ['https://page.example'],
      publicUrl: PUBLIC_URL,
      prm: { authorizationServers: ['https://issuer.example'] },
      version: '0.0.0',
    },
    readiness: async () => true,
    metrics,
    logger,
    clock,
    mounts: mount.mounts,
  });
  const listening = await http.listen(0, '127.0.0.1');
  const server: McpServer = {
    url: new URL(`http://127.0.0.1:${listening.port}/mcp`),
    mount,
    memory,
    time,
    logs,
    refusing: undefined,
    close: async () => {
      await mount.close();
      await listening.close();
    },
  };
  return server;
}

/** The SDK's own client, connected; one that can be asked for confirmation gets a session. */
export async function connectClient(server: McpServer, token: string, elicitation = false): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: elicitation ? { elicitation: {} } : {} });
  await client.connect(clientTransport(server, token));
  return client;
}

export function clientTransport(server: McpServer, token: string, sessionId?: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(server.url, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    ...(sessionId === undefined ? {} : { sessionId }),
  });
}

export interface SendOptions {
  readonly token?: string | null;
  readonly session?: string | undefined;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** One HTTP request as a client would send it. */
export async function send(server: McpServer, body: unknown, options: SendOptions = {}): Promise<McpAnswer> {
  const { token = ANN, session, method = 'POST', headers = {} } = options;
  const answer = await fetch(server.url, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const data = /^data: (.+)$/m.exec(text)?.[1] ?? (text.startsWith('{') ? text : '{}');
  return { status: answer.status, headers: answer.headers, text, message: JSON.parse(data) as Json };
}

/** Sends a message and returns what cuts the connection. */
export function sendAndLeave(server: McpServer, body: unknown, session: string | undefined, more: Record<string, string> = {}): () => void {
  const headers = {
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${ANN}`,
    'content-type': 'application/json',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...more,
  };
  const request = httpRequest(server.url, { method: 'POST', headers, agent: false }, (answer) => answer.on('error', () => undefined));
  request.on('error', () => undefined);
  request.end(JSON.stringify(body));
  return () => request.destroy();
}

export function call(name: string, args: unknown, id: string | number = 1): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export function initialize(capabilities: object, id: string | number = 1): Record<string, unknown> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
  return { jsonrpc: '2.0', id, method: 'initialize', params };
}

/** A new session of that caller. */
export async function openSession(server: McpServer, token = ANN): Promise<string> {
  const answer = await send(server, initialize({ elicitation: {} }), { token });
  const id = answer.headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${answer.status} ${answer.text}`);
  return id;
}

/** The problem in an error result. */
export function failureOf(answer: McpAnswer): Json {
  return JSON.parse((answer.message['result'] as { content: { text: string }[] }).content[0]?.text ?? '{}') as Json;
}

/** Waits for something that happens by itself; fails after two seconds. */
export async function until(what: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 2_000; !what();) {
    if (performance.now() > deadline) throw new Error(`did not come true in 2 s: ${what.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
