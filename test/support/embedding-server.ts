/** A real OpenAI-compatible embeddings server on loopback with fault switches: the other end of profile `openai` in tests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbeddingProvider } from '../../src/providers/embedding/provider.ts';
import { close, listen } from './loopback.ts';

/** Vectors of texts as a list of plain numbers. */
export type EmbeddingBackend = (model: string, texts: readonly string[]) => Promise<number[][]>;

export type EmbeddingFault =
  | 'down' // the socket is cut without an answer
  | 'hang' // no answer at all
  | 'hang-body' // headers, then half a body, then nothing
  | 'status-400'
  | 'status-401'
  | 'status-429'
  | 'status-500'
  | 'redirect'
  | 'not-json'
  | 'wrong-dims'
  | 'wrong-count'
  | 'wrong-index'
  | 'nan'
  | 'infinite'
  | 'zero'
  | 'base64'
  | 'too-large';

export interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format: unknown;
  readonly authorization: string | undefined;
}

export class EmbeddingServer {
  /** What came in, faults included; oldest first. */
  readonly requests: EmbeddingRequest[] = [];
  /** The traceparent header of each. */
  readonly traceparents: (string | undefined)[] = [];
  readonly #server: Server;
  readonly #backend: EmbeddingBackend;
  #fault: EmbeddingFault | undefined;
  #faultsLeft = 0;

  private constructor(backend: EmbeddingBackend) {
    this.#backend = backend;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(backend: EmbeddingBackend, port = 0): Promise<EmbeddingServer> {
    const server = new EmbeddingServer(backend);
    await listen(server.#server, port);
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /** From now on the next `times` requests fail this way (all of them by default). */
  fail(fault: EmbeddingFault, times = Number.POSITIVE_INFINITY): void {
    this.#fault = fault;
    this.#faultsLeft = times;
  }

  heal(): void {
    this.#faultsLeft = 0;
  }

  async stop(): Promise<void> {
    await close(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.method !== 'POST' || request.url !== '/v1/embeddings') {
      send(response, 404, { error: { message: 'no such route' } });
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      model: string;
      input: string | string[];
      encoding_format?: unknown;
    };
    const input = typeof body.input === 'string' ? [body.input] : body.input;
    this.requests.push({ model: body.model, input, encoding_format: body.encoding_format, authorization: request.headers.authorization });
    this.traceparents.push(request.headers['traceparent'] as string | undefined);
    const fault = this.#faultsLeft > 0 ? this.#fault : undefined;
    this.#faultsLeft -= 1;
    if (fault !== undefined && breakTransport(fault, response)) return;
    const vectors = await this.#backend(body.model, input);
    send(response, 200, { object: 'list', model: body.model, data: spoil(fault, vectors), usage: { prompt_tokens: 0, total_tokens: 0 } });
  }
}

/** Faults below the level of vectors; true when one of them has answered (or will not). */
function breakTransport(fault: EmbeddingFault, response: ServerResponse): boolean {
  const status = /^status-(\d+)$/.exec(fault)?.[1];
  if (status !== undefined) send(response, Number(status), { error: { message: 'upstream words that must not reach a caller' } });
  else if (fault === 'down') response.destroy();
  else if (fault === 'redirect') response.writeHead(307, { location: 'http://127.0.0.1:9/v1/embeddings' }).end();
  else if (fault === 'not-json') response.writeHead(200, { 'content-type': 'application/json' }).end('<html>busy</html>');
  else if (fault === 'too-large')
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 200 * 1024 * 1024 }).write('{"data":[');
  else if (fault === 'hang-body') response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[');
  else return fault === 'hang';
  return true;
}

function spoil(fault: EmbeddingFault | undefined, vectors: number[][]): unknown[] {
  const data: { object: string; index: number; embedding: unknown }[] = vectors.map((embedding, index) => ({
    object: 'embedding',
    index,
    embedding,
  }));
  const last = data.at(-1);
  if (last === undefined || fault === undefined) return data;
  const vector = last.embedding as number[];
  if (fault === 'wrong-dims') last.embedding = vector.slice(1);
  // JSON.stringify writes NaN as null, as real servers do; 1e999 is read as Infinity.
  else if (fault === 'nan') last.embedding = vector.with(0, Number.NaN);
  else if (fault === 'infinite') last.embedding = vector.map(() => 1e39);
  else if (fault === 'zero') last.embedding = vector.map(() => 0);
  else if (fault === 'base64') last.embedding = Buffer.from(Float32Array.from(vector).buffer).toString('base64');
  else if (fault === 'wrong-count') data.pop();
  else if (fault === 'wrong-index') last.index = data.length;
  return data;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/**
 * The real local models behind the endpoint, as a user would serve them: model `bge-small-zh`, `e5-small` or, of profile
 * local-multilingual, `multilingual-e5-small` (the texts of both e5 bring their own prefix). An endpoint is not told what a text is for:
 * without a prefix it embeds all alike, as passages.
 */
export function localBackend(local: EmbeddingProvider): EmbeddingBackend {
  return async (model, texts) => {
    const e5 = model.includes('e5-small');
    const kind = e5 ? (texts[0]?.startsWith('query: ') === true ? 'query' : 'passage') : 'passage';
    const bare = e5 ? texts.map((text) => text.replace(/^(query|passage): /, '')) : texts;
    const vectors = await local.embed(model.startsWith('multilingual') ? 'multi' : e5 ? 'en' : 'zh', bare, kind);
    return vectors.map((vector) => [...vector]);
  };
}

/** Feature hashing of Latin words, Han characters and Han bigrams into `dims` signed buckets: deterministic, and texts that share words are closer. */
export function hashBackend(dims: number): EmbeddingBackend {
  return async (_model, texts) => texts.map((text) => hashVector(text, dims));
}

function hashVector(text: string, dims: number): number[] {
  const vector = new Array<number>(dims).fill(0);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  const han = [...text].filter((c) => /\p{Script=Han}/u.test(c));
  for (const feature of [...words, ...han, ...han.slice(1).map((c, i) => `${han[i]}${c}`)]) {
    let hash = 2166136261;
    for (const c of feature) hash = Math.imul(hash ^ (c.codePointAt(0) ?? 0), 16777619) >>> 0;
    vector[hash % dims] = (vector[hash % dims] ?? 0) + ((hash & 0x10000) > 0 ? 1 : -1);
  }
  // Opposite signs may cancel; a vector without a direction would be refused.
  if (!vector.some((x) => x !== 0)) vector[0] = 1;
  return vector;
}
