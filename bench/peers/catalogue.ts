/** The peers: what is installed of each and in which setting it is measured, the best its own documentation names for a machine without accounts. */
import { ownPeer } from './own-peer.ts';
import { PeerUnavailable, type Peer } from './peer.ts';
import { pythonPeer } from './python-peer.ts';
import { serverMemoryPeer } from './server-memory-peer.ts';

/** In the order of the report. */
export function peers(): Peer[] {
  return [
    ownPeer(),
    pythonPeer({
      id: 'mem0',
      name: 'mem0, Qdrant',
      setting:
        'Memory.add(infer=False) and Memory.search; Qdrant in a folder, its default: by vector (its BM25 there wants a model from a hub)',
      install: { id: 'mem0', main: 'mem0ai', others: ['elasticsearch<9'] },
      adapter: 'mem0_peer',
      options: { store: 'qdrant' },
    }),
    pythonPeer({
      id: 'mem0-elasticsearch',
      name: 'mem0, Elasticsearch',
      setting: 'the same with its Elasticsearch store on the engine of this bench: vector and BM25',
      install: { id: 'mem0', main: 'mem0ai', others: ['elasticsearch<9'] },
      adapter: 'mem0_peer',
      options: { store: 'elasticsearch' },
    }),
    pythonPeer({
      id: 'mcp-memory-service',
      name: 'mcp-memory-service',
      setting:
        'SQLite-vec storage, a database a namespace, hybrid search fused by rank (.009 recall@5 better than its weighted average on these sets); its refusal of texts that are alike switched off',
      install: { id: 'mcp-memory-service', main: 'mcp-memory-service', sqliteExtensions: true },
      adapter: 'mcp_memory_service_peer',
      options: { fusion: 'rrf' },
    }),
    pythonPeer({
      id: 'lancedb',
      name: 'LanceDB',
      setting: 'hybrid search with its RRF reranker; full text by ICU for Chinese, stemmed for English',
      install: { id: 'lancedb', main: 'lancedb' },
      adapter: 'lancedb_peer',
    }),
    pythonPeer({
      id: 'chroma',
      name: 'Chroma',
      setting: 'a collection in a folder, cosine, by vector',
      install: { id: 'chroma', main: 'chromadb' },
      adapter: 'chroma_peer',
    }),
    serverMemoryPeer(),
    absentPeer(
      'hindsight',
      'Hindsight (vectorize-io)',
      'hindsight-api 1.1.0 installs, but its embedded PostgreSQL refuses to start as root, and what its ranking is made for, facts from a language model and a cross-encoder from a hub, is not to be had without an account or a download',
    ),
    absentPeer(
      'graphiti',
      'Graphiti / Zep',
      'graphiti-core 0.31.2 installs, but its client asks for the key of a language model, which extracts what is stored, and for a graph database',
    ),
    absentPeer(
      'cognee',
      'cognee',
      'cognee 1.6.5 installs, but cognify, which makes what is stored searchable, asks a language model; even its tokenizer is downloaded at the first call',
    ),
    absentPeer(
      'letta',
      'Letta',
      'letta 0.34.12 installs a coding agent for the terminal, not a memory that can be called without a language model',
    ),
  ];
}

/** One that was tried and cannot be measured like the others; the report says why. */
function absentPeer(id: string, name: string, reason: string): Peer {
  const refuse = (): Promise<never> => Promise.reject(new PeerUnavailable(reason));
  return { id, name, absent: reason, setting: '–', fingerprint: () => '', prepare: refuse, run: refuse };
}
