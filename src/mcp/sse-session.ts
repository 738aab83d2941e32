/** One connection of the HTTP+SSE transport (MCP 2024-11-05): a Server whose messages go out on one event stream. */
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo } from '@modelcontextprotocol/sdk/types.js';
import type { Principal } from '../domain/principal.ts';

/** What a client that does not read may leave lying here before it is cut off. */
const MAX_UNREAD_BYTES = 8 * 1_048_576;
const ID_BYTES = 18;

export class SseSession implements Transport {
  readonly sessionId = randomBytes(ID_BYTES).toString('base64url');
  /** The response body; ends with the session, and the session with it. */
  readonly stream = new PassThrough();
  readonly tenant: string;
  /** When the token that opened the stream ends, in ms since the epoch. */
  readonly endsAt: number;
  onclose?: () => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  readonly #principal: Principal;
  readonly #ended = new AbortController();

  constructor(principal: Principal) {
    this.tenant = principal.tenant;
    this.#principal = principal;
    this.endsAt = principal.expiresAt === 0 ? Infinity : principal.expiresAt * 1_000;
    this.stream.once('close', () => void this.close());
    this.stream.on('error', () => void this.close());
  }

  /** Aborted when the session ends: what its calls still do is for nobody. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Bound to person, actor and client, not to the bytes of a token: a refreshed token keeps the session. */
  belongsTo(caller: Principal): boolean {
    return (['tenant', 'owner', 'actor', 'clientId'] as const).every((name) => caller[name] === this.#principal[name]);
  }

  /** Tells the client where to post, then lets the Server speak. */
  async open(server: Server, messagesPath: string): Promise<void> {
    this.#write(`event: endpoint\ndata: ${messagesPath}?sessionId=${this.sessionId}\n\n`);
    await server.connect(this);
  }

  async start(): Promise<void> {
    // the stream is open since the constructor; Server.connect() wants to say so
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** A comment, which clients pass over: proxies and clients cut a stream that is silent for long. */
  beat(): void {
    this.#write(': ping\n\n');
  }

  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.stream.end();
    this.onclose?.();
  }

  #write(event: string): void {
    if (this.#ended.signal.aborted) return;
    this.stream.write(event);
    if (this.stream.writableLength + this.stream.readableLength > MAX_UNREAD_BYTES) void this.close();
  }
}
