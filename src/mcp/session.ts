/** One live session: a Server on the SDK's transport, which of its requests are running, and how to end them. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { HindsightError } from '../errors.ts';
import { idKey, type RpcId } from './json-rpc.ts';
import type { SessionClient } from './session-id.ts';

/** Tells when a request has been answered: from then on its id can be used again without the answers crossing. */
class AnsweringTransport extends WebStandardStreamableHTTPServerTransport {
  onanswered: ((id: unknown) => void) | undefined;

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    try {
      await super.send(message, options);
    } finally {
      if (('result' in message || 'error' in message) && message.id !== undefined) this.onanswered?.(message.id);
    }
  }
}

interface Running {
  readonly abort: AbortController;
  /** Another request with this id was answered beside the session: a cancellation could mean either. */
  shared: boolean;
}

export class Session {
  readonly transport: AnsweringTransport;
  /** HTTP answers that are open, the GET stream among them. */
  open = 0;
  /** Milliseconds since the epoch. */
  lastUsedAt: number;
  /** Settled when the session can take messages. */
  ready: Promise<void>;
  /** When the token behind the GET stream ends, in ms since the epoch. */
  streamEndsAt = Infinity;
  readonly #id: string;
  readonly #running = new Map<string, Running>();

  constructor(id: string, server: Server, now: number, onClosed: () => void) {
    this.#id = id;
    this.lastUsedAt = now;
    // never JSON mode with a session: the SDK then keeps an entry of each request for good (typescript-sdk #2559)
    this.transport = new AnsweringTransport({ sessionIdGenerator: () => id });
    this.transport.onclose = onClosed;
    this.transport.onanswered = (key) => this.#running.delete(idKey(key));
    this.ready = server.connect(this.transport);
  }

  /**
   * What ends the request, by the client's cancellation or by the caller of this; undefined while another with the same id runs: the SDK
   * would send the answers to each other's stream (typescript-sdk #2433; claude.ai gives every request the id 1).
   */
  begin(id: RpcId): AbortController | undefined {
    const running = this.#running.get(idKey(id));
    if (running !== undefined) {
      running.shared = true;
      return undefined;
    }
    const abort = new AbortController();
    this.#running.set(idKey(id), { abort, shared: false });
    return abort;
  }

  /** For a request that the transport turned away. */
  forgetRunning(id: RpcId): void {
    this.#running.delete(idKey(id));
  }

  /**
   * Done here and not by the SDK: it ignores id 0, leaves the stream of a cancelled request open, and never drops its entry. A handler
   * that is aborted this way still sends its answer, which finds no stream and clears what is left.
   */
  cancel(id: unknown): void {
    const running = this.#running.get(idKey(id));
    if (running === undefined || running.shared) return;
    this.transport.closeSSEStream(id as RpcId);
    running.abort.abort();
  }

  /** Says to a new Server what the client said at the beginning. */
  async restore({ protocolVersion, elicitation, name, version }: SessionClient): Promise<void> {
    const capabilities = { elicitation: { ...(elicitation.form ? { form: {} } : {}), ...(elicitation.url ? { url: {} } : {}) } };
    const params = { protocolVersion, capabilities, clientInfo: { name, version } };
    const answer = await this.#post({ jsonrpc: '2.0', id: 'restore', method: 'initialize', params });
    await answer.text();
    await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async close(): Promise<void> {
    for (const { abort } of this.#running.values()) abort.abort();
    this.#running.clear();
    await this.transport.close();
  }

  async #post(parsedBody: unknown): Promise<Response> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': this.#id };
    const answer = await this.transport.handleRequest(new Request('http://localhost/mcp', { method: 'POST', headers }), { parsedBody });
    // ended in the meantime
    if (!answer.ok) throw new HindsightError('ERR_SESSION_NOT_FOUND');
    return answer;
  }
}
