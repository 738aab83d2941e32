/** The MCP reference server "memory" over stdio: one server and file a namespace, an entity a document; its search takes words, so the bench asks word by word. */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { STOP_WORDS } from '../../src/text/stop-words.ts';
import { namespaceOf } from '../support/dataset.ts';
import { sourceFingerprint } from '../support/fingerprint.ts';
import { progressOf } from '../support/progress.ts';
import { installNpm } from './install.ts';
import { DEPTH, type PeerJob } from './job.ts';
import type { Peer, PeerAnswers, PeerContext } from './peer.ts';

const PACKAGE = '@modelcontextprotocol/server-memory';

interface Graph {
  readonly entities: readonly { readonly name: string }[];
}

/** The peer; no embedder: its search_nodes looks for a string within names and observations. */
export function serverMemoryPeer(): Peer {
  let program = '';
  return {
    id: 'server-memory',
    name: 'MCP server-memory',
    setting:
      'an entity a document; one search_nodes call for each word of the question that is no stop word, rare words weigh more; over stdio',
    fingerprint: () => sourceFingerprint(['server-memory-peer.ts'], import.meta.dirname),
    prepare: async (work) => {
      const { folder, version } = await installNpm(work, PACKAGE);
      program = join(folder, 'dist', 'index.js');
      return version;
    },
    run: (job, context) => measure(program, job, context),
  };
}

async function measure(program: string, job: PeerJob, context: PeerContext): Promise<PeerAnswers> {
  const servers = new Map<string, Client>();
  const sizes = new Map<string, number>();
  const serverOf = async (namespace: string): Promise<Client> => {
    const known = servers.get(namespace);
    if (known !== undefined) return known;
    const client = new Client({ name: 'bench', version: '1' });
    const env = { PATH: process.env['PATH'] ?? '', MEMORY_FILE_PATH: join(context.folder, `${servers.size}.jsonl`) };
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' }));
    servers.set(namespace, client);
    return client;
  };
  const writeMs: number[] = [];
  const searchMs: number[] = [];
  const ranked: string[][] = [];
  try {
    const wrote = progressOf(`server-memory, ${job.set}: writes`, job.documents.length);
    for (const { id, namespace, text } of job.documents) {
      const server = await serverOf(namespace);
      const entities = [{ name: id, entityType: 'memory', observations: [text] }];
      const from = performance.now();
      await call(server, 'create_entities', { entities });
      writeMs.push(performance.now() - from);
      sizes.set(namespace, (sizes.get(namespace) ?? 0) + 1);
      wrote(writeMs.length);
    }
    const asked = progressOf(`server-memory, ${job.set}: searches`, job.queries.length);
    for (const query of job.queries) {
      const namespace = namespaceOf(query);
      const server = await serverOf(namespace);
      const from = performance.now();
      const found = await search(server, query.query, job.language, sizes.get(namespace) ?? 1);
      searchMs.push(performance.now() - from);
      ranked.push(found);
      asked(ranked.length);
    }
  } finally {
    for (const client of servers.values()) await client.close();
  }
  return { refused: 0, writeMs, searchMs, ranked };
}

/** As an agent that picks the words of a question would: what holds more and rarer of them comes first; equal ones in the order of writing. */
async function search(server: Client, question: string, language: string, size: number): Promise<string[]> {
  const weights = new Map<string, number>();
  for (const word of wordsOf(question, language)) {
    const { entities } = await call<Graph>(server, 'search_nodes', { query: word });
    const weight = Math.log(1 + size / Math.max(1, entities.length));
    for (const { name } of entities) weights.set(name, (weights.get(name) ?? 0) + weight);
  }
  return [...weights]
    .sort(([, a], [, b]) => b - a)
    .slice(0, DEPTH)
    .map(([name]) => name);
}

function wordsOf(question: string, language: string): ReadonlySet<string> {
  const words = [...new Intl.Segmenter(language, { granularity: 'word' }).segment(question.toLowerCase())];
  return new Set(words.filter(({ segment, isWordLike }) => isWordLike === true && !STOP_WORDS.has(segment)).map(({ segment }) => segment));
}

async function call<T>(server: Client, name: string, args: Record<string, unknown>): Promise<T> {
  const answer = await server.callTool({ name, arguments: args });
  if (answer.isError === true) throw new Error(`${name} failed`);
  return answer.structuredContent as T;
}
