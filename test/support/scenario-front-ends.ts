/** One way to call an operation through REST and one through MCP, with the same answer to both: what scenarios and the grant property run on. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TestService } from './service.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
export type Json = any;
export type Input = Readonly<Record<string, unknown>>;

/** Outcome of one call in the terms both front ends share. */
export type CallResult =
  | { readonly ok: true; readonly output: Json; readonly headers?: Headers }
  | { readonly ok: false; readonly code: string; readonly problem: Json; readonly status?: number; readonly headers?: Headers };

export interface FrontEnd {
  readonly name: 'REST' | 'MCP';
  call(token: string, operation: string, input: Input, headers?: Record<string, string>): Promise<CallResult>;
  close(): Promise<void>;
}

type RestRequest = readonly [method: string, path: string, body?: Input | undefined, headers?: Record<string, string>];

/** Operation -> request: ids stand in the path, a version in If-Match, a list's filter flat in the query string. */
const REST: Readonly<Record<string, (input: Input) => RestRequest>> = {
  memory_write: (input) => ['POST', '/v1/memories', input],
  memory_search: (input) => ['POST', '/v1/memories/search', input],
  memory_context: (input) => ['POST', '/v1/context', input],
  memory_get: ({ memory_id: id, ...rest }) => ['GET', `${memoryPath(id)}${queryString(rest)}`],
  memory_list: (input) => ['GET', `/v1/memories${queryString(input)}`],
  memory_history: ({ memory_id: id, ...rest }) => ['GET', `${memoryPath(id)}/history${queryString(rest)}`],
  memory_update: ({ memory_id: id, version, ...body }) => ['PATCH', memoryPath(id), body, ifMatch(version)],
  memory_restore: ({ memory_id: id, ...body }) => ['POST', `${memoryPath(id)}/restore`, body],
  memory_feedback: (input) => ['POST', '/v1/feedback', input],
  memory_forget: ({ memory_id: id, version, ...body }) =>
    id === undefined
      ? ['POST', '/v1/memories/forget', body]
      : ['DELETE', `${memoryPath(id)}${queryString(body)}`, undefined, ifMatch(version)],
  memory_reveal: ({ memory_id: id }) => ['POST', `${memoryPath(id)}/reveal`, {}],
  memory_keys_delete: (input) => ['POST', '/v1/keys/delete', input],
  memory_namespace: ({ namespace }) => ['GET', `/v1/namespaces/${String(namespace)}`],
  memory_collect: ({ namespace, ...body }) => ['PUT', `/v1/namespaces/${String(namespace)}`, body],
  memory_turns_add: ({ session_id: id, ...body }) => ['POST', `${sessionPath(id)}/turns`, body],
  memory_turns: ({ session_id: id, ...rest }) => ['GET', `${sessionPath(id)}/turns${queryString(rest)}`],
  memory_state_set: ({ session_id: id, ...body }) => ['PUT', `${sessionPath(id)}/state`, body],
  memory_state: ({ session_id: id, ...rest }) => ['GET', `${sessionPath(id)}/state${queryString(rest)}`],
  memory_stats: (input) => ['GET', `/v1/stats${queryString(input)}`],
  memory_export: (input) => ['GET', `/v1/export${queryString(input)}`],
  memory_import: (input) => ['POST', '/v1/import', input],
  memory_audit: (input) => ['GET', `/v1/audit${queryString(input)}`],
  memory_audit_verify: () => ['GET', '/v1/audit/verify'],
  memory_recall_trace: ({ trace_id: id }) => ['GET', `/v1/recalls/${String(id)}`],
  memory_summarize: (input) => ['POST', '/v1/summaries', input],
  memory_instructions: (input) => ['GET', `/v1/instructions${queryString(input)}`],
  memory_confirmations: (input) => ['GET', `/v1/confirmations${queryString(input)}`],
  memory_quarantine: (input) => ['GET', `/v1/quarantine${queryString(input)}`],
  memory_confirm: ({ memory_id: id, decision, ...body }) => ['POST', `/v1/confirmations/${String(id)}/${String(decision)}`, body],
  memory_release: ({ memory_id: id, decision, ...body }) => ['POST', `/v1/quarantine/${String(id)}/${String(decision)}`, body],
};

export function restFrontEnd(service: TestService): FrontEnd {
  return {
    name: 'REST',
    call: async (token, operation, input, headers = {}) => {
      const request = REST[operation];
      if (request === undefined) throw new Error(`no REST form of ${operation}`);
      const [method, path, body, own = {}] = request(input);
      const { status, body: answer, headers: given } = await service.call(method, path, token, body, { ...own, ...headers });
      if (status === 200) return { ok: true, output: answer, headers: given };
      return { ok: false, code: String(answer.code), problem: answer, status, headers: given };
    },
    close: async () => undefined,
  };
}

/** The SDK's own client, one connection for each token; it checks every answer against the tool's output schema. */
export function mcpFrontEnd(service: TestService): FrontEnd {
  const clients = new Map<string, Promise<Client>>();
  const clientOf = (token: string): Promise<Client> => {
    const known = clients.get(token) ?? connect(service.url, token);
    clients.set(token, known);
    return known;
  };
  return {
    name: 'MCP',
    call: async (token, operation, input) => {
      const client = await clientOf(token);
      const result = await client.callTool({ name: operation, arguments: { ...input } });
      const [part] = result.content as { readonly type: string; readonly text: string }[];
      const said = JSON.parse(part?.text ?? 'null');
      if (result.isError === true) return { ok: false, code: String(said.code), problem: said };
      if (JSON.stringify(said) !== JSON.stringify(result.structuredContent)) throw new Error('text and structured content differ');
      return { ok: true, output: said };
    },
    close: async () => {
      for (const client of clients.values()) await (await client).close();
    },
  };
}

async function connect(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'scenario', version: '1' });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } });
  // its optional session id is `string | undefined`, which exactOptionalPropertyTypes tells apart
  await client.connect(transport);
  await client.listTools();
  return client;
}

const memoryPath = (id: unknown): string => `/v1/memories/${encodeURIComponent(String(id))}`;
const sessionPath = (id: unknown): string => `/v1/sessions/${encodeURIComponent(String(id))}`;

function ifMatch(version: unknown): Record<string, string> {
  return version === undefined ? {} : { 'if-match': `"${Number(version)}"` };
}

/** `{filter: {created: {gte: x}}}` is `created_gte=x`; lists repeat their parameter. */
export function queryString(input: Input): string {
  const pairs: [string, string][] = [];
  const walk = (prefix: string, value: unknown): void => {
    if (Array.isArray(value)) value.forEach((item) => walk(prefix, item));
    else if (typeof value === 'object' && value !== null)
      for (const [name, child] of Object.entries(value)) walk(prefix === '' || prefix === 'filter' ? name : `${prefix}_${name}`, child);
    else if (value !== undefined) pairs.push([prefix, typeof value === 'string' ? value : JSON.stringify(value)]);
  };
  walk('', input);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}
