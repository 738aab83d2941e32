/** A real /rerank server on loopback with fault switches: the other end of the cross-encoder in tests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { close, listen } from './loopback.ts';

export interface RerankRequest {
  readonly model?: string;
  readonly query: string;
  readonly documents?: readonly string[];
  /** As text-embeddings-inference calls them. */
  readonly texts?: readonly string[];
  readonly top_n?: number;
}

/** How well a text answers a question. */
export type RerankBackend = (query: string, text: string) => number;

/** Whose form it takes and answers in; `texts` refuses `documents` with 422, as text-embeddings-inference does. */
export type RerankForm = 'results' | 'data' | 'texts';

export type RerankFault =
  | 'down' // the socket is cut without an answer
  | 'hang' // no answer at all
  | 'hang-body' // headers, then half a body, then nothing
  | 'redirect'
  | 'status-400'
  | 'status-401'
  | 'status-429'
  | 'status-500'
  | 'not-json'
  | 'too-large'
  | 'no-results'
  | 'wrong-index'
  | 'twice'
  | 'left-out'
  | 'words';

export class RerankServer {
  /** What came in, faults included; oldest first. */
  readonly requests: RerankRequest[] = [];
  readonly authorizations: (string | undefined)[] = [];
  form: RerankForm = 'results';
  backend: RerankBackend;
  readonly #server: Server;
  #fault: RerankFault | undefined;

  private constructor(backend: RerankBackend) {
    this.backend = backend;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(backend: RerankBackend): Promise<RerankServer> {
    const server = new RerankServer(backend);
    await listen(server.#server);
    return server;
  }

  /** Without `/rerank`. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** From now on requests fail this way; undefined heals it. */
  fail(fault: RerankFault | undefined): void {
    this.#fault = fault;
  }

  async stop(): Promise<void> {
    await close(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.method !== 'POST' || request.url !== '/v1/rerank') return send(response, 404, { error: 'no such route' });
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as RerankRequest;
    this.requests.push(body);
    this.authorizations.push(request.headers.authorization);
    if (this.#fault !== undefined && breakTransport(this.#fault, response)) return;
    const texts = this.form === 'texts' ? body.texts : body.documents;
    if (texts === undefined) return send(response, 422, { error: 'upstream words that must not reach a caller' });
    const field = this.form === 'texts' ? 'score' : 'relevance_score';
    const rated = texts.map((text, index) => ({ index, [field]: this.backend(body.query, text) }));
    // best first, as these servers answer
    const sorted = spoiled(this.#fault, rated).sort((a, b) => Number(b[field]) - Number(a[field]));
    send(response, 200, this.form === 'texts' ? sorted : { [this.form]: sorted, usage: { total_tokens: 1 } });
  }
}

type Rated = Record<string, unknown>;

function spoiled(fault: RerankFault | undefined, rated: Rated[]): Rated[] {
  if (fault === 'no-results') return [];
  if (fault === 'left-out') return rated.slice(1);
  if (fault === 'twice') return rated.map((one) => ({ ...one, index: 0 }));
  if (fault === 'wrong-index') return rated.map((one) => ({ ...one, index: Number(one['index']) + 1 }));
  if (fault === 'words') return rated.map((one) => ({ ...one, relevance_score: 'high', score: 'high' }));
  return rated;
}

/** True when the fault has answered (or will not). */
function breakTransport(fault: RerankFault, response: ServerResponse): boolean {
  const status = /^status-(\d+)$/.exec(fault)?.[1];
  if (status !== undefined) send(response, Number(status), { error: 'upstream words that must not reach a caller' });
  else if (fault === 'down') response.destroy();
  else if (fault === 'redirect') response.writeHead(307, { location: 'http://127.0.0.1:9/v1/rerank' }).end();
  else if (fault === 'not-json') response.writeHead(200, { 'content-type': 'application/json' }).end('<html>busy</html>');
  else if (fault === 'too-large')
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 200 * 1024 * 1024 }).write('{"results":[');
  else if (fault === 'hang-body') response.writeHead(200, { 'content-type': 'application/json' }).write('{"results":[');
  else return fault === 'hang';
  return true;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
