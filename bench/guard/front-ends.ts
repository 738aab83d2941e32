/** One way to write, import and search for each front end, with the same answer: the attack bench goes through both. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TierName } from '../../src/domain/trust.ts';
import type { HttpClient } from '../support/http-client.ts';

type Body = Readonly<Record<string, unknown>>;

export interface WriteResult {
  readonly memory_id: string | null;
  readonly outcome: string;
}

export interface Hit {
  readonly memory_id: string;
  readonly content: string;
  readonly reference_only: boolean;
  readonly trust: { readonly tier: TierName };
}

export interface FrontEnd {
  /** Results in the order of the items. */
  write(items: readonly Body[]): Promise<readonly WriteResult[]>;
  importItems(items: readonly Body[]): Promise<readonly WriteResult[]>;
  search(request: Body): Promise<readonly Hit[]>;
  close(): Promise<void>;
}

export function overRest(client: HttpClient): FrontEnd {
  const post = <T>(path: string, body: Body): Promise<T> => client.json<T>({ method: 'POST', path, body: JSON.stringify(body) });
  return {
    write: async (items) => (await post<{ results: WriteResult[] }>('/v1/memories', { items, wait: true })).results,
    importItems: async (items) =>
      (await post<{ results: WriteResult[] }>('/v1/import', { items: items.map(({ admission: _, ...item }) => item) })).results,
    search: async (request) => (await post<{ hits: Hit[] }>('/v1/memories/search', request)).hits,
    close: async () => client.close(),
  };
}

/** The SDK's own client, which cannot ask its user: what waits for a person stays pending. Imports have no tool and go over REST. */
export async function overMcp(url: string, token: string, rest: FrontEnd): Promise<FrontEnd> {
  const client = new Client({ name: 'bench-guard', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  const call = async <T>(name: string, args: Body): Promise<T> => {
    const answer = await client.callTool({ name, arguments: { ...args } });
    if (answer.isError === true) throw new Error(`${name}: ${JSON.stringify(answer.content).slice(0, 300)}`);
    return answer.structuredContent as T;
  };
  return {
    write: async (items) => {
      const results: WriteResult[] = [];
      // the tool has fewer fields than REST: whether a text is worth keeping is the service's to say
      for (const { admission: _, ...item } of items)
        results.push(...(await call<{ results: WriteResult[] }>('memory_write', { ...item, wait: true })).results);
      return results;
    },
    importItems: (items) => rest.importItems(items),
    search: async (request) => (await call<{ hits: Hit[] }>('memory_search', request)).hits,
    close: async () => {
      await client.close();
      await rest.close();
    },
  };
}
