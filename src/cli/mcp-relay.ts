/** The stdio entry's middle: each message of the client goes to the service, each of the service to the client, across restarts of either. */
import { discovery, INSTRUCTIONS, LEGACY_VERSIONS, serverInfo, SERVER_CAPABILITIES } from '../mcp/about.ts';
import { Fault, lost, refusedToken, textOf, unreachable, wordless } from './mcp-faults.ts';
import type { ServiceFinder, Target } from './mcp-service.ts';
import { listen, ownVersion, post, type Exchange, type Json, type Session } from './mcp-upstream.ts';

export interface RelayOptions {
  readonly service: ServiceFinder;
  readonly version: string;
  /** One message to the client. */
  send(message: Json): void;
  note(line: string): void;
}

type Id = string | number;

/** How an `initialize` in the client's name ended. */
interface Opened {
  readonly session?: Session | undefined;
  /** The service's refusal, which is the answer to whatever needed the session. */
  readonly refused?: Exchange;
}

const SERVER_FAULT = -32_000;
const LISTEN_AGAIN_MS = [500, 1_000, 2_000, 5_000, 15_000];

export class Relay {
  readonly #options: RelayOptions;
  /** Requests of the client that are not answered yet. */
  readonly #running = new Map<string, AbortController>();
  /** What the client said at its beginning: said again to a service that does not know it. */
  #hello: Json | undefined;
  #session: Session | undefined;
  #opening: Promise<Opened> | undefined;
  #ears: AbortController | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Requests whose answers are still to come. */
  get running(): number {
    return this.#running.size;
  }

  /** Resolves when whatever the message asks for has been answered; never rejects. */
  async take(message: Json): Promise<void> {
    const id = message['id'] as Id | undefined;
    if (message['method'] === undefined || id === undefined) return this.#pass(message);
    const key = `${typeof id}:${id}`;
    const abort = new AbortController();
    this.#running.set(key, abort);
    try {
      await this.#answer(message, id, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#options.note(textOf(error));
      const code = error instanceof Fault ? error.rpcCode : SERVER_FAULT;
      this.#options.send({ jsonrpc: '2.0', id, error: { code, message: textOf(error) } });
    } finally {
      if (this.#running.get(key) === abort) this.#running.delete(key);
    }
  }

  /** A notification, or the client's answer to something that the service asked: nothing is sent back, whatever becomes of it. */
  async #pass(message: Json): Promise<void> {
    const { method, params } = message as { readonly method?: string; readonly params?: Json };
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      this.#running.get(`${typeof id}:${String(id)}`)?.abort();
      // without a session the broken connection has said it already
      if (this.#session?.id === undefined) return;
    }
    // opened together with the session
    if (method === 'notifications/initialized') return;
    try {
      const { status, messages } = await this.#exchange(message, new AbortController().signal);
      for await (const _answer of messages) if (status >= 400) this.#options.note(`the service did not take a message (HTTP ${status})`);
    } catch (error) {
      this.#options.note(textOf(error));
    }
  }

  async #answer(message: Json, id: Id, signal: AbortSignal): Promise<void> {
    const method = message['method'];
    const isHello = method === 'initialize';
    if (isHello) {
      this.#hello = message;
      this.#forgetSession();
    }
    if ((isHello || method === 'server/discover') && (await this.#options.service.now()) === undefined) {
      // a client waits for few seconds only, a service may take longer to start
      this.#options.send({ jsonrpc: '2.0', id, result: isHello ? this.#ownHello(message) : discovery(serverInfo(this.#options.version)) });
      this.#options.service.ready().catch((error: unknown) => this.#options.note(textOf(error)));
      return;
    }
    const exchange = await this.#exchange(message, signal);
    let answered = false;
    for await (const received of this.#received(exchange, signal)) {
      const isAnswer = received['method'] === undefined && (received['id'] === id || exchange.status >= 400);
      if (isAnswer && isHello) this.#begin(exchange, received);
      this.#options.send(isAnswer && received['id'] !== id ? { ...received, id } : received);
      answered ||= isAnswer;
    }
    if (!answered && !signal.aborted) throw exchange.status >= 400 ? wordless(exchange.status) : lost();
  }

  /** What is on its way when the connection breaks is not sent again: it may have been carried out. */
  async *#received(exchange: Exchange, signal: AbortSignal): AsyncGenerator<Json> {
    try {
      yield* exchange.messages;
    } catch (cause) {
      if (signal.aborted) return;
      this.#options.service.forget();
      throw lost(cause);
    }
  }

  /** Sent again where the service did not take it: it has another address, another token, or does not know the session any more. */
  async #exchange(message: Json, signal: AbortSignal): Promise<Exchange> {
    const isHello = message['method'] === 'initialize';
    let before: Target | undefined;
    for (let retry = false; ; retry = true) {
      const target = await this.#options.service.ready();
      signal.throwIfAborted();
      let exchange: Exchange;
      let session: Session | undefined;
      try {
        const opened = isHello || ownVersion(message) !== undefined ? undefined : await this.#opened(target);
        session = opened?.session;
        exchange = opened?.refused ?? (await post(target, message, session, signal));
      } catch (cause) {
        if (signal.aborted || cause instanceof Fault) throw cause;
        this.#options.service.forget();
        if (!isRefused(cause)) throw lost(cause);
        if (retry) throw unreachable(target.url, cause);
        before = target;
        continue;
      }
      if (exchange.status === 401) {
        this.#options.service.forget();
        const next = retry ? undefined : await this.#options.service.now();
        if (next === undefined || (next.token === target.token && next.url === target.url))
          throw refusedToken(target, this.#options.service.tokenAdvice);
        continue;
      }
      if (exchange.status === 404 && session?.id !== undefined && !retry) {
        if (this.#session === session) this.#forgetSession();
        continue;
      }
      if (before !== undefined && before.url !== target.url) this.#options.note(`connected to the service at ${target.url}`);
      return exchange;
    }
  }

  /** The session of the client's initialize, opened on its behalf where it was answered here or is not known any more. */
  async #opened(target: Target): Promise<Opened> {
    const hello = this.#hello;
    if (this.#session !== undefined || hello === undefined) return { session: this.#session };
    this.#opening ??= this.#open(target, hello).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #open(target: Target, hello: Json): Promise<Opened> {
    const { signal } = new AbortController();
    const exchange = await post(target, { ...hello, id: 'hindsight-es/initialize' }, undefined, signal);
    if (exchange.status >= 400) return { refused: exchange };
    for await (const received of exchange.messages) if (received['method'] === undefined) this.#begin(exchange, received);
    return { session: this.#session };
  }

  #begin({ sessionId }: Exchange, { result }: Json): void {
    const version = (result as Json | undefined)?.['protocolVersion'];
    if (typeof version !== 'string') return;
    const session: Session = { id: sessionId, version };
    this.#session = session;
    this.#ears?.abort();
    if (sessionId === undefined) return;
    this.#ears = new AbortController();
    void this.#greet(session, this.#ears.signal);
  }

  #forgetSession(): void {
    this.#session = undefined;
    this.#ears?.abort();
  }

  async #greet(session: Session, signal: AbortSignal): Promise<void> {
    try {
      const target = await this.#options.service.ready();
      await post(target, { jsonrpc: '2.0', method: 'notifications/initialized' }, session, signal);
    } catch {
      // the next request finds out what is wrong, and says it
    }
    await this.#hear(session, signal);
  }

  /** Keeps the service's own stream open as long as the session lasts. */
  async #hear(session: Session, signal: AbortSignal): Promise<void> {
    for (let misses = 0; !signal.aborted; misses += 1) {
      try {
        const target = await this.#options.service.now();
        if (target !== undefined) {
          const { status, messages } = await listen(target, session, signal);
          // no stream on this leg, or no such session: the next request opens a new one
          if (status === 404 || status === 405) return;
          for await (const message of messages) if (status === 200) this.#options.send(message);
          if (status === 200) misses = 0;
          else this.#options.service.forget();
        }
      } catch {
        // broken off; looked for and opened again below
        this.#options.service.forget();
      }
      await new Promise((resolve) => setTimeout(resolve, LISTEN_AGAIN_MS[Math.min(misses, LISTEN_AGAIN_MS.length - 1)]));
    }
  }

  #ownHello({ params }: Json): Json {
    const wanted = String((params as Json | undefined)?.['protocolVersion']);
    return {
      protocolVersion: LEGACY_VERSIONS.find((one) => one === wanted) ?? LEGACY_VERSIONS[0],
      capabilities: SERVER_CAPABILITIES,
      serverInfo: serverInfo(this.#options.version),
      instructions: INSTRUCTIONS,
    };
  }
}

/** Nothing was sent: there is nobody at that address. */
function isRefused(error: unknown): boolean {
  const { code } = ((error as { readonly cause?: unknown }).cause ?? {}) as { readonly code?: string };
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(code ?? '');
}
