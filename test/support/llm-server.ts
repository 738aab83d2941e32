/** A real OpenAI-compatible chat server on loopback with fault switches: the other end of the language model in tests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { close, listen } from './loopback.ts';

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly name: string; readonly schema: unknown } };
  readonly tools?: unknown;
}

/** What the model says; an object goes out as JSON. */
export type ChatBackend = (request: ChatRequest) => string | object;

export type ChatFault =
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
  | 'no-choices'
  | 'cut-off'
  | 'filtered'
  | 'refusal'
  | 'tool-call';

/** Which parameters the endpoint knows: an unknown one is answered 400, as servers do. */
export type ChatKnows = (request: ChatRequest) => boolean;

export class ChatServer {
  /** What came in, faults included; oldest first. */
  readonly requests: ChatRequest[] = [];
  readonly authorizations: (string | undefined)[] = [];
  backend: ChatBackend;
  knows: ChatKnows = () => true;
  /** Requests under way, and the most there were at once. */
  running = 0;
  most = 0;
  readonly #server: Server;
  #fault: ChatFault | undefined;
  #faultsLeft = 0;
  #held: (() => void)[] | undefined;

  private constructor(backend: ChatBackend) {
    this.backend = backend;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(backend: ChatBackend): Promise<ChatServer> {
    const server = new ChatServer(backend);
    await listen(server.#server);
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** From now on the next `times` requests fail this way (all of them by default). */
  fail(fault: ChatFault, times = Number.POSITIVE_INFINITY): void {
    this.#fault = fault;
    this.#faultsLeft = times;
  }

  heal(): void {
    this.#faultsLeft = 0;
  }

  /** Answers wait until the function that comes back is called. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      held.forEach((go) => go());
    };
  }

  async stop(): Promise<void> {
    await close(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
      return send(response, 404, { error: { message: 'no such route' } });
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest;
    this.requests.push(body);
    this.authorizations.push(request.headers.authorization);
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    response.once('close', () => (this.running -= 1));
    const held = this.#held;
    if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve));
    const fault = this.#faultsLeft > 0 ? this.#fault : undefined;
    this.#faultsLeft -= 1;
    if (fault !== undefined && breakTransport(fault, response)) return;
    if (!this.knows(body)) return send(response, 400, { error: { message: 'upstream words that must not reach a caller' } });
    const said = this.backend(body);
    const content = typeof said === 'string' ? said : JSON.stringify(said);
    send(response, 200, { id: 'x', object: 'chat.completion', created: 0, model: body.model, choices: choicesOf(fault, content) });
  }
}

/** Faults below the level of answers; true when one of them has answered (or will not). */
function breakTransport(fault: ChatFault, response: ServerResponse): boolean {
  const status = /^status-(\d+)$/.exec(fault)?.[1];
  if (status !== undefined) send(response, Number(status), { error: { message: 'upstream words that must not reach a caller' } });
  else if (fault === 'down') response.destroy();
  else if (fault === 'redirect') response.writeHead(307, { location: 'http://127.0.0.1:9/v1/chat/completions' }).end();
  else if (fault === 'not-json') response.writeHead(200, { 'content-type': 'application/json' }).end('<html>busy</html>');
  else if (fault === 'too-large')
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 200 * 1024 * 1024 }).write('{"choices":[');
  else if (fault === 'hang-body') response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":[');
  else return fault === 'hang';
  return true;
}

function choicesOf(fault: ChatFault | undefined, content: string): unknown[] {
  const call = { id: 'c', type: 'function', function: { name: 'memory_forget', arguments: '{}' } };
  if (fault === 'no-choices') return [];
  const message = {
    role: 'assistant',
    content: fault === 'refusal' || fault === 'tool-call' ? null : content,
    refusal: fault === 'refusal' ? 'I cannot help with that' : null,
    ...(fault === 'tool-call' ? { tool_calls: [call] } : {}),
  };
  const finish = fault === 'cut-off' ? 'length' : fault === 'filtered' ? 'content_filter' : fault === 'tool-call' ? 'tool_calls' : 'stop';
  return [{ index: 0, finish_reason: finish, message }];
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
