/** The product's local embedder behind an OpenAI-compatible /v1/embeddings on loopback: what lets every peer use the very same vectors. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { LocalEmbeddingProvider } from '../../src/providers/embedding/local.ts';
import type { EmbeddingKind } from '../../src/providers/embedding/provider.ts';
import { testModelsDir } from '../../test/contract/embedding-provider-models.ts';
import { Latency } from '../support/latency.ts';

/** The API has no kind of text; a question is embedded by the name of the model with this behind it. */
const QUERY_SUFFIX = '-query';

const requestSchema = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string())]),
  encoding_format: z.enum(['float', 'base64']).optional(),
});

export class EmbeddingServer {
  readonly #provider: LocalEmbeddingProvider;
  readonly #server: Server;
  #times: Record<EmbeddingKind, Latency> = { query: new Latency(), passage: new Latency() };

  private constructor(provider: LocalEmbeddingProvider) {
    this.#provider = provider;
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
        (error: unknown) => response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(errorBody(error))),
      );
    });
    this.#server.keepAliveTimeout = 600_000; // a client that builds an index meanwhile keeps its connection
  }

  static async start(): Promise<EmbeddingServer> {
    const provider = new LocalEmbeddingProvider({ modelsDir: await testModelsDir() });
    await provider.ready();
    const server = new EmbeddingServer(provider);
    await new Promise<void>((resolve, reject) => server.#server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** Base URL as OpenAI clients take it: with /v1. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** p50 in ms of the model runs since the last call, by kind of text; the part of a peer's time that is nobody's merit. */
  takeTimes(): Record<EmbeddingKind, number> {
    const times = this.#times;
    this.#times = { query: new Latency(), passage: new Latency() };
    return { query: times.query.percentile(50), passage: times.passage.percentile(50) };
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    await this.#provider.close();
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.method !== 'POST' || !(request.url ?? '').endsWith('/embeddings')) throw new Error('only POST /v1/embeddings is served');
    const { model, input, encoding_format } = requestSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    const kind = model.endsWith(QUERY_SUFFIX) ? 'query' : 'passage';
    const space = kind === 'query' ? model.slice(0, -QUERY_SUFFIX.length) : model;
    const texts = typeof input === 'string' ? [input] : input;
    const vectors = await this.#times[kind].time(() => this.#provider.embed(space, texts, kind));
    return {
      object: 'list',
      model,
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, encoding_format ?? 'float') })),
      usage: { prompt_tokens: 0, total_tokens: 0 },
    };
  }
}

function encoded(vector: Float32Array, format: 'float' | 'base64'): number[] | string {
  if (format === 'float') return Array.from(vector);
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

function errorBody(error: unknown): unknown {
  return { error: { message: error instanceof Error ? error.message : String(error), type: 'invalid_request_error' } };
}
